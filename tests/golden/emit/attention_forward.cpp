// output = softmax(scores) · value, scores of every key tile
// model.cpp:12
void decoder_attention(
    const float* Q,             // [batch, 2, queries, 64]
    const i32* lens,            // [batch]
    const float* K,             // [batch, 2, keys, 64]
    const float* V,             // [batch, 2, keys, 64]
    float* O,                   // [batch, 2, queries, 64]
    float* decoder_attention,   // [2, batch, 2, queries]
    i64 batch, i64 keys, i64 queries) {
    constexpr i64 q_step = 64, k_step = 64, q_width = 80;
    const i64 at_once = tasks_at_once(batch * 2, queries * keys, queries, q_step);
    for (const auto at : taken_points(at_once, batch, 2, tiles_of(queries, q_step))) {
        const i64 b = at[0], h = at[1], q_at = last_tile(queries, q_step) - at[2] * q_step;
        const i64 q_n = minimum(q_step, queries - q_at);
        const float* Q_tile = Q + b * (queries * 128) + h * (queries * 64) + q_at * 64;  // [q, d]
        float* O_tile = O + b * (queries * 128) + h * (queries * 64) + q_at * 64;  // [q, e]
        // [q]
        float* decoder_attention_tile = decoder_attention + b * (queries * 2) + h * queries + q_at;
        // [q]
        float* log_total_tile = decoder_attention + b * (queries * 2) + h * queries + q_at +
                batch * queries * 2;
        alignas(64) float query_scaled_tile[64 * q_width];  // [d, q]
        for_columns(q_n, fixed<64>, Q_tile, fixed<64>,
            [&](i64 d, i64 q, floats query) FOVEA_LAMBDA {
                store(query_scaled_tile + d * q_width + q, query * 0.18033688F);
            });
        alignas(64) float largest_tile[q_width];  // [q]
        fill_tile(largest_tile, q_n, -3.4028233e+38F);
        alignas(64) float total_tile[q_width];  // [q]
        fill_tile(total_tile, q_n, 0.0F);
        alignas(64) float output_tile[q_step * 64];  // [q, e]
        fill_tile(output_tile, q_n * 64, 0.0F);
        const auto k_end = lane_bounds<q_step>(q_n, keys,
                [&](i64 q) FOVEA_LAMBDA { return minimum(iota(q_at + q) + 1, splat(lens[b])); });
        for (i64 k_at = 0; k_at < k_end.largest; k_at += k_step) {
            const i64 k_n = minimum(k_step, k_end.largest - k_at);
            const auto k_seen = seen_blocks<k_step, q_step>(k_at, k_n, q_n, unbounded, k_end);
            const float* K_tile = K + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, d]
            const float* V_tile = V + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, e]
            alignas(64) float seen_scores_tile[k_step * q_width];  // [k, q]
            // scores[k, q] = sum over d of query_scaled * key
            sum_seen<6, 4, Unseen::left>(k_seen, fixed<64>,
                from_zero,
                products(
                    [&](i64 k, i64 d) FOVEA_LAMBDA { return K_tile[k * 64 + d]; },
                    [&](i64 q, i64 d) FOVEA_LAMBDA {
                        return load(query_scaled_tile + d * q_width + q);
                    }),
                [&](i64 k, i64 q, floats scores) FOVEA_LAMBDA {
                    store(seen_scores_tile + k * q_width + q, scores);
                },
                [&](i64 k) FOVEA_LAMBDA {
                    prefetch<64>(K_tile, (k + k_step) * 64);
                    prefetch<64>(V_tile, (k + k_step) * 64);
                });
            if (k_at + k_n > k_end.smallest)
                for (i64 q = 0; q < q_n; q += kLanes)
                    for_edge_rows(k_seen, q, [&](i64 k) FOVEA_LAMBDA {
                        store(seen_scores_tile + k * q_width + q,
                                select(splat(i32(k_at + k)) < minimum(iota(q_at + q) + 1,
                                splat(lens[b])), load(seen_scores_tile + k * q_width + q),
                                splat(-3.4028235e+38F)));
                    });
            alignas(64) float weights_tile[k_step * q_width];  // [k, q]
            alignas(64) float rescale_tile[q_width];  // [q]
            // new_largest[q], weights[k, q], rescale[q], new_total[q]
            for (i64 q = 0; q < q_n; q += kLanes) {
                const floats max_seen_scores = max_rows(k_seen.rows_of(q), [&](i64 k) FOVEA_LAMBDA {
                    return load(seen_scores_tile + k * q_width + q);
                });
                const floats new_largest = maximum(load(largest_tile + q), max_seen_scores);
                const floats rescale = exp2(load(largest_tile + q) - new_largest);
                const floats sum_weights = sum_rows(k_seen.rows_of(q), [&](i64 k) FOVEA_LAMBDA {
                    const floats weights = exp2(load(seen_scores_tile + k * q_width + q) -
                            new_largest);
                    store(weights_tile + k * q_width + q, weights);
                    return weights;
                });
                const floats new_total = load(total_tile + q) * rescale + sum_weights;
                store(largest_tile + q, new_largest);
                store(rescale_tile + q, rescale);
                store(total_tile + q, new_total);
            }
            // new_output[q, e] += sum over k of weights * value
            sum_parts<6, 4>(k_seen.by_lanes(), fixed<64>,
                [&](i64 q, i64 e) FOVEA_LAMBDA {
                    return load(output_tile + q * 64 + e) * rescale_tile[q];
                },
                products(
                    [&](i64 q, i64 k) FOVEA_LAMBDA { return weights_tile[k * q_width + q]; },
                    [&](i64 e, i64 k) FOVEA_LAMBDA { return load(V_tile + k * 64 + e); }),
                [&](i64 q, i64 e, floats new_output) FOVEA_LAMBDA {
                    store(output_tile + q * 64 + e, new_output);
                },
                [&](i64 q) FOVEA_LAMBDA {
                    if (k_at + k_step < k_end.largest) return;
                    prefetch<64>(Q_tile, (q - q_step) * 64);
                    prefetch<64>(O_tile, q * 64);
                });
        }
        alignas(64) float over_total_tile[q_width];  // [q]
        // over_total[q], decoder_attention[q], decoder_attention[q]
        for (i64 q = 0; q < q_n; q += kLanes) {
            const floats over_total = select(-3.4028233e+38F < load(largest_tile + q),
                    1.0F / load(total_tile + q), splat(0.0F));
            store(decoder_attention_tile + q, load(largest_tile + q), lanes_at(q, q_n));
            store(log_total_tile + q, log2(load(total_tile + q)), lanes_at(q, q_n));
            store(over_total_tile + q, over_total);
        }
        for (i64 q = 0; q < q_n; ++q)
            for (i64 e = 0; e < 64; e += kLanes)
                store(O_tile + q * 64 + e, load(output_tile + q * 64 + e) * over_total_tile[q]);
    }
}
