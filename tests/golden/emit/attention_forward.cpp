// O = softmax(score(Q, K)) V
// attention.cpp:12
void decoder_attention_forward(
    const float* Q,    // [batch, 2, queries, 64]
    const float* K,    // [batch, 2, keys, 64]
    const float* V,    // [batch, 2, keys, 64]
    const i32* lens,   // [batch]
    float* O,          // [batch, 2, queries, 64]
    float* L,          // [batch, 2, queries]
    i64 batch, i64 keys, i64 queries) {
    constexpr i64 q_step = 64, k_step = 64, q_width = 80;
    const i64 at_once = tasks_at_once(batch * 2, queries * keys, queries, q_step);
    #pragma omp for collapse(3) schedule(dynamic, at_once) nowait
    for (i64 b = 0; b < batch; ++b)
        for (i64 h = 0; h < 2; ++h)
            for (i64 q_at = last_tile(queries, q_step); q_at >= 0; q_at -= q_step) {
                const i64 q_n = minimum(q_step, queries - q_at);
                // [q, d]
                const float* Q_tile = Q + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                float* O_tile = O + b * (queries * 128) + h * (queries * 64) + q_at * 64;  // [q, e]
                float* L_tile = L + b * (queries * 2) + h * queries + q_at;  // [q]
                alignas(64) float query_scaled_tile[64 * q_width];  // [d, q]
                for_columns(q_n, fixed<64>, Q_tile, fixed<64>,
                    [&](i64 d, i64 q, floats query) FOVEA_LAMBDA {
                        store(query_scaled_tile + d * q_width + q, query * 0.125F * 1.442695F);
                    });
                const i32 length = minimum(i32(keys), lens[b]);
                alignas(64) float largest_tile[q_width];  // [q]
                fill_tile(largest_tile, q_n, -1e+29F);
                alignas(64) float total_tile[q_width];  // [q]
                fill_tile(total_tile, q_n, 0.0F);
                alignas(64) float output_tile[q_step * 64];  // [q, e]
                fill_tile(output_tile, q_n * 64, 0.0F);
                const Bounds k_end = bounds_of(q_n, keys,
                        [&](i64 q) FOVEA_LAMBDA { return minimum(splat(length),
                        iota(q_at + q) + 1); });
                for (i64 k_at = 0; k_at < k_end.largest; k_at += k_step) {
                    const i64 k_n = minimum(k_step, k_end.largest - k_at);
                    // [k, d]
                    const float* K_tile = K + b * (keys * 128) + h * (keys * 64) + k_at * 64;
                    // [k, e]
                    const float* V_tile = V + b * (keys * 128) + h * (keys * 64) + k_at * 64;
                    alignas(64) float s_tile[k_step * q_width];  // [k, q]
                    // score[k, q] = sum over d of query_scaled * key
                    sum_tile<6, 4>(k_n, q_n, fixed<64>,
                        from_zero,
                        products(
                            [&](i64 k, i64 d) FOVEA_LAMBDA { return K_tile[k * 64 + d]; },
                            [&](i64 q, i64 d) FOVEA_LAMBDA {
                                return load(query_scaled_tile + d * q_width + q);
                            }),
                        [&](i64 k, i64 q, floats score) FOVEA_LAMBDA {
                            store(s_tile + k * q_width + q, score);
                        },
                        [&](i64 k) FOVEA_LAMBDA {
                            prefetch<64>(K_tile, (k + k_step) * 64);
                            prefetch<64>(V_tile, (k + k_step) * 64);
                        });
                    if (k_at + k_n > k_end.smallest)
                        for (i64 k = 0; k < k_n; ++k)
                            for (i64 q = 0; q < q_n; q += kLanes)
                                store(s_tile + k * q_width + q,
                                        select(splat(i32(k_at + k)) < minimum(splat(length),
                                        iota(q_at + q) + 1), load(s_tile + k * q_width + q),
                                        splat(-1e+30F)));
                    alignas(64) float p_tile[k_step * q_width];  // [k, q]
                    alignas(64) float alpha_tile[q_width];  // [q]
                    // new_largest[q], p[k, q], alpha[q], new_total[q]
                    for (i64 q = 0; q < q_n; q += kLanes) {
                        const floats tile_largest = max_rows(k_n, [&](i64 k) FOVEA_LAMBDA {
                            return load(s_tile + k * q_width + q);
                        });
                        const floats new_largest = maximum(load(largest_tile + q), tile_largest);
                        const floats alpha = exp2(load(largest_tile + q) - new_largest);
                        const floats tile_total = sum_rows(k_n, [&](i64 k) FOVEA_LAMBDA {
                            const floats p = exp2(load(s_tile + k * q_width + q) - new_largest);
                            store(p_tile + k * q_width + q, p);
                            return p;
                        });
                        const floats new_total = load(total_tile + q) * alpha + tile_total;
                        store(largest_tile + q, new_largest);
                        store(alpha_tile + q, alpha);
                        store(total_tile + q, new_total);
                    }
                    // new_output[q, e] += sum over k of p * value
                    sum_tile<6, 4>(q_n, fixed<64>, k_n,
                        [&](i64 q, i64 e) FOVEA_LAMBDA {
                            return load(output_tile + q * 64 + e) * alpha_tile[q];
                        },
                        products(
                            [&](i64 q, i64 k) FOVEA_LAMBDA { return p_tile[k * q_width + q]; },
                            [&](i64 e, i64 k) FOVEA_LAMBDA { return load(V_tile + k * 64 + e); }),
                        [&](i64 q, i64 e, floats new_output) FOVEA_LAMBDA {
                            store(output_tile + q * 64 + e, new_output);
                        },
                        [&](i64 q) FOVEA_LAMBDA {
                            prefetch<64>(Q_tile, (q - q_step) * 64);
                            prefetch<64>(O_tile, q * 64);
                        });
                }
                alignas(64) float share_tile[q_width];  // [q]
                // share[q], L[q]
                for (i64 q = 0; q < q_n; q += kLanes) {
                    const floats share = select(0.0F < load(total_tile + q),
                            1.0F / load(total_tile + q), splat(0.0F));
                    store(L_tile + q, load(largest_tile + q) + log2(load(total_tile + q)),
                            lanes_at(q, q_n));
                    store(share_tile + q, share);
                }
                for (i64 q = 0; q < q_n; ++q)
                    for (i64 e = 0; e < 64; e += kLanes)
                        store(O_tile + q * 64 + e, load(output_tile + q * 64 + e) * share_tile[q]);
            }
}
