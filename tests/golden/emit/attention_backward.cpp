// gradients of softmax(scores) · value
// model.cpp:12
void decoder_attention_gradient(
    const i32* lens,                         // [batch]
    float* Q_grad,                           // [batch, 2, queries, 64]
    const float* K,                          // [batch, 2, keys, 64]
    const float* V,                          // [batch, 2, keys, 64]
    const float* Q,                          // [batch, 2, queries, 64]
    const float* O_grad,                     // [batch, 2, queries, 64]
    const float* attention_delta_gradient,   // [batch, 2, queries, 1]
    const float* decoder_attention,          // [2, batch, 2, queries]
    float* K_grad,                           // [batch, 2, keys, 64]
    float* V_grad,                           // [batch, 2, keys, 64]
    i64 batch, i64 keys, i64 queries) {
    constexpr i64 q_step = 64, k_step = 64, k_width = 80;
    const i64 at_once = tasks_at_once(batch * 2, queries * keys);
    for (const auto at : taken_points(at_once, batch, 2)) {
        const i64 b = at[0], h = at[1];
        for (i64 q_at = 0; q_at < queries; q_at += q_step) {
            const i64 q_n = minimum(q_step, queries - q_at);
            // [q, d]
            float* Q_grad_tile = Q_grad + b * (queries * 128) + h * (queries * 64) + q_at * 64;
            for (i64 q = 0; q < q_n; ++q)
                for (i64 d = 0; d < 64; d += kLanes)
                    store(Q_grad_tile + q * 64 + d, splat(0.0F));
        }
        for (i64 k_at = 0; k_at < keys; k_at += k_step) {
            const i64 k_n = minimum(k_step, keys - k_at);
            const float* K_tile = K + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, d]
            const float* V_tile = V + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, e]
            float* K_grad_tile = K_grad + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, d]
            float* V_grad_tile = V_grad + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, e]
            alignas(64) float key_scaled_tile[64 * k_width];  // [d, k]
            for_columns(k_n, fixed<64>, K_tile, fixed<64>,
                [&](i64 d, i64 k, floats key) FOVEA_LAMBDA {
                    store(key_scaled_tile + d * k_width + k, key * 0.18033688F);
                });
            alignas(64) float key_gradient_tile[k_step * 64];  // [k, d]
            fill_tile(key_gradient_tile, k_n * 64, 0.0F);
            alignas(64) float value_gradient_tile[k_step * 64];  // [k, e]
            fill_tile(value_gradient_tile, k_n * 64, 0.0F);
            alignas(64) float V_columns[64 * k_width];  // [e, k]
            for_columns(k_n, fixed<64>, V_tile, fixed<64>,
                [&](i64 e, i64 k, floats value) FOVEA_LAMBDA {
                    store(V_columns + e * k_width + k, value);
                });
            const auto q_from = lane_bounds<k_step>(k_n, queries,
                    [&](i64 k) FOVEA_LAMBDA { return iota(k_at + k); });
            const auto q_end = lane_bounds<k_step>(k_n, queries,
                    [&](i64 k) FOVEA_LAMBDA { return select(iota(k_at + k) < lens[b],
                    splat(i32(queries)), splat(0)); });
            for (i64 q_at = q_from.smallest / q_step * q_step; q_at < q_end.largest; q_at +=
                    q_step) {
                const i64 q_n = minimum(q_step, q_end.largest - q_at);
                const auto q_seen = seen_blocks<q_step, k_step>(q_at, q_n, k_n, q_from, q_end);
                // [q, d]
                const float* Q_tile = Q + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                // [q, e]
                const float* O_grad_tile = O_grad + b * (queries * 128) + h * (queries * 64) +
                        q_at * 64;
                // [q]
                const float* attention_delta_gradient_tile =
                        attention_delta_gradient + b * (queries * 2) + h * queries + q_at;
                // [q]
                const float* decoder_attention_tile =
                        decoder_attention + b * (queries * 2) + h * queries + q_at;
                // [q]
                const float* log_total_tile =
                        decoder_attention + b * (queries * 2) + h * queries + q_at +
                        batch * queries * 2;
                // [q, d]
                float* Q_grad_tile = Q_grad + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                alignas(64) float weights_tile[q_step * k_width];  // [q, k]
                // scores[q, k] = sum over d of query * key_scaled
                sum_seen<6, 4, Unseen::left>(q_seen, fixed<64>,
                    from_zero,
                    products(
                        [&](i64 q, i64 d) FOVEA_LAMBDA { return Q_tile[q * 64 + d]; },
                        [&](i64 k, i64 d) FOVEA_LAMBDA {
                            return load(key_scaled_tile + d * k_width + k);
                        }),
                    Once{[&](i64 q, i64 k, floats scores) FOVEA_LAMBDA {
                        const floats unmasked_weights =
                                exp2(scores - decoder_attention_tile[q] - log_total_tile[q]);
                        store(weights_tile + q * k_width + k, unmasked_weights);
                    }});
                if (q_at < q_from.largest || q_at + q_n > q_end.smallest)
                    for (i64 k = 0; k < k_n; k += kLanes)
                        for_edge_rows(q_seen, k, [&](i64 q) FOVEA_LAMBDA {
                            store(weights_tile + q * k_width + k,
                                    select((iota(k_at + k) <= splat(i32(q_at + q))) &
                                    (splat(i32(q_at + q)) < select(iota(k_at + k) < lens[b],
                                    splat(i32(queries)), splat(0))),
                                    load(weights_tile + q * k_width + k), splat(0.0F)));
                        });
                alignas(64) float scaled_tile[q_step * k_width];  // [q, k]
                // weights_gradient[q, k] = sum over e of cotangent * value
                sum_seen<6, 4, Unseen::left>(q_seen, fixed<64>,
                    from_zero,
                    products(
                        [&](i64 q, i64 e) FOVEA_LAMBDA { return O_grad_tile[q * 64 + e]; },
                        [&](i64 k, i64 e) FOVEA_LAMBDA {
                            return load(V_columns + e * k_width + k);
                        }),
                    [&](i64 q, i64 k, floats weights_gradient) FOVEA_LAMBDA {
                        const floats scaled = load(weights_tile + q * k_width + k) *
                                (weights_gradient - attention_delta_gradient_tile[q]) * 0.125F;
                        store(scaled_tile + q * k_width + k, scaled);
                    });
                // key_gradient_so_far[k, d] += sum over q of scaled * query
                sum_parts<6, 4>(q_seen.by_lanes(), fixed<64>,
                    [&](i64 k, i64 d) FOVEA_LAMBDA { return load(key_gradient_tile + k * 64 + d); },
                    products(
                        [&](i64 k, i64 q) FOVEA_LAMBDA { return scaled_tile[q * k_width + k]; },
                        [&](i64 d, i64 q) FOVEA_LAMBDA { return load(Q_tile + q * 64 + d); }),
                    [&](i64 k, i64 d, floats key_gradient_so_far) FOVEA_LAMBDA {
                        store(key_gradient_tile + k * 64 + d, key_gradient_so_far);
                    });
                // value_gradient_so_far[k, e] += sum over q of weights * cotangent
                sum_parts<6, 4>(q_seen.by_lanes(), fixed<64>,
                    [&](i64 k, i64 e) FOVEA_LAMBDA {
                        return load(value_gradient_tile + k * 64 + e);
                    },
                    products(
                        [&](i64 k, i64 q) FOVEA_LAMBDA { return weights_tile[q * k_width + k]; },
                        [&](i64 e, i64 q) FOVEA_LAMBDA { return load(O_grad_tile + q * 64 + e); }),
                    [&](i64 k, i64 e, floats value_gradient_so_far) FOVEA_LAMBDA {
                        store(value_gradient_tile + k * 64 + e, value_gradient_so_far);
                    });
                // query_gradient[q, d] += sum over k of scaled * key
                sum_parts<6, 4>(q_seen.by_rows(), fixed<64>,
                    [&](i64 q, i64 d) FOVEA_LAMBDA { return load(Q_grad_tile + q * 64 + d); },
                    products(
                        [&](i64 q, i64 k) FOVEA_LAMBDA { return scaled_tile[q * k_width + k]; },
                        [&](i64 d, i64 k) FOVEA_LAMBDA { return load(K_tile + k * 64 + d); }),
                    [&](i64 q, i64 d, floats query_gradient) FOVEA_LAMBDA {
                        store(Q_grad_tile + q * 64 + d, query_gradient);
                    });
            }
            for (i64 k = 0; k < k_n; ++k)
                for (i64 d = 0; d < 64; d += kLanes)
                    store(K_grad_tile + k * 64 + d, load(key_gradient_tile + k * 64 + d));
            for (i64 k = 0; k < k_n; ++k)
                for (i64 e = 0; e < 64; e += kLanes)
                    store(V_grad_tile + k * 64 + e, load(value_gradient_tile + k * 64 + e));
        }
    }
}
