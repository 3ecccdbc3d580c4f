// dQ, dK, dV from dO, the scores computed again
// attention.cpp:12
void decoder_attention_backward(
    const float* Q,    // [batch, 2, queries, 64]
    const float* K,    // [batch, 2, keys, 64]
    const float* V,    // [batch, 2, keys, 64]
    const float* O,    // [batch, 2, queries, 64]
    const float* L,    // [batch, 2, queries]
    const float* dO,   // [batch, 2, queries, 64]
    const i32* lens,   // [batch]
    float* dQ,         // [batch, 2, queries, 64]
    float* dK,         // [batch, 2, keys, 64]
    float* dV,         // [batch, 2, keys, 64]
    i64 batch, i64 keys, i64 queries) {
    constexpr i64 q_step = 64, k_step = 64, q_width = 80, k_width = 80;
    #pragma omp for collapse(2) schedule(dynamic, tasks_at_once(batch * 2, queries * keys)) nowait
    for (i64 b = 0; b < batch; ++b)
        for (i64 h = 0; h < 2; ++h) {
            for (i64 q_at = 0; q_at < queries; q_at += q_step) {
                const i64 q_n = minimum(q_step, queries - q_at);
                // [q, d]
                float* dQ_tile = dQ + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                for (i64 q = 0; q < q_n; ++q)
                    for (i64 d = 0; d < 64; d += kLanes)
                        store(dQ_tile + q * 64 + d, splat(0.0F));
            }
            for (i64 k_at = 0; k_at < keys; k_at += k_step) {
                const i64 k_n = minimum(k_step, keys - k_at);
                const float* K_tile = K + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, d]
                const float* V_tile = V + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, e]
                float* dK_tile = dK + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, d]
                float* dV_tile = dV + b * (keys * 128) + h * (keys * 64) + k_at * 64;  // [k, e]
                alignas(64) float key_scaled_tile[64 * k_width];  // [d, k]
                for_columns(k_n, fixed<64>, K_tile, fixed<64>,
                    [&](i64 d, i64 k, floats key) FOVEA_LAMBDA {
                        store(key_scaled_tile + d * k_width + k, key * 0.125F * 1.442695F);
                    });
                alignas(64) float key_sum_tile[k_step * 64];  // [k, d]
                fill_tile(key_sum_tile, k_n * 64, 0.0F);
                alignas(64) float value_sum_tile[k_step * 64];  // [k, e]
                fill_tile(value_sum_tile, k_n * 64, 0.0F);
                alignas(64) float V_columns[64 * k_width];  // [e, k]
                for_columns(k_n, fixed<64>, V_tile, fixed<64>,
                    [&](i64 e, i64 k, floats value) FOVEA_LAMBDA {
                        store(V_columns + e * k_width + k, value);
                    });
                const Bounds q_from = bounds_of(k_n, queries,
                        [&](i64 k) FOVEA_LAMBDA { return iota(k_at + k); });
                const Bounds q_end = bounds_of(k_n, queries,
                        [&](i64 k) FOVEA_LAMBDA { return select(iota(k_at + k) < lens[b],
                        splat(i32(queries)), splat(0)); });
                for (i64 q_at = q_from.smallest / q_step * q_step; q_at < q_end.largest; q_at +=
                        q_step) {
                    const i64 q_n = minimum(q_step, q_end.largest - q_at);
                    // [q, d]
                    const float* Q_tile = Q + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                    // [q, e]
                    const float* dO_tile = dO + b * (queries * 128) + h * (queries * 64) +
                            q_at * 64;
                    // [q, e]
                    const float* O_tile = O + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                    const float* L_tile = L + b * (queries * 2) + h * queries + q_at;  // [q]
                    // [q, d]
                    float* dQ_tile = dQ + b * (queries * 128) + h * (queries * 64) + q_at * 64;
                    alignas(64) float delta_tile[q_width];  // [q]
                    for (i64 q = 0; q < q_n; ++q)
                        delta_tile[q] = sum_lanes(fixed<64>, [&](i64 e) FOVEA_LAMBDA {
                            return load(dO_tile + q * 64 + e) * load(O_tile + q * 64 + e);
                        });
                    alignas(64) float p_tile[q_step * k_width];  // [q, k]
                    // score[q, k] = sum over d of query * key_scaled
                    sum_tile<6, 4>(q_n, k_n, fixed<64>,
                        from_zero,
                        products(
                            [&](i64 q, i64 d) FOVEA_LAMBDA { return Q_tile[q * 64 + d]; },
                            [&](i64 k, i64 d) FOVEA_LAMBDA {
                                return load(key_scaled_tile + d * k_width + k);
                            }),
                        Once{[&](i64 q, i64 k, floats score) FOVEA_LAMBDA {
                            const floats weight = exp2(score - L_tile[q]);
                            store(p_tile + q * k_width + k, weight);
                        }});
                    if (q_at < q_from.largest || q_at + q_n > q_end.smallest)
                        for (i64 q = 0; q < q_n; ++q)
                            for (i64 k = 0; k < k_n; k += kLanes)
                                store(p_tile + q * k_width + k,
                                        select((iota(k_at + k) <= splat(i32(q_at + q))) &
                                        (splat(i32(q_at + q)) < select(iota(k_at + k) < lens[b],
                                        splat(i32(queries)), splat(0))),
                                        load(p_tile + q * k_width + k), splat(0.0F)));
                    alignas(64) float ds_scaled_tile[q_step * k_width];  // [q, k]
                    // dp[q, k] = sum over e of go * value
                    sum_tile<6, 4>(q_n, k_n, fixed<64>,
                        from_zero,
                        products(
                            [&](i64 q, i64 e) FOVEA_LAMBDA { return dO_tile[q * 64 + e]; },
                            [&](i64 k, i64 e) FOVEA_LAMBDA {
                                return load(V_columns + e * k_width + k);
                            }),
                        [&](i64 q, i64 k, floats dp) FOVEA_LAMBDA {
                            const floats ds_scaled =
                                    load(p_tile + q * k_width + k) * (dp - delta_tile[q]) * 0.125F;
                            store(ds_scaled_tile + q * k_width + k, ds_scaled);
                        });
                    // dk[k, d] += sum over q of ds_scaled * query
                    sum_tile<6, 4>(k_n, fixed<64>, q_n,
                        [&](i64 k, i64 d) FOVEA_LAMBDA { return load(key_sum_tile + k * 64 + d); },
                        products(
                            [&](i64 k, i64 q) FOVEA_LAMBDA {
                                return ds_scaled_tile[q * k_width + k];
                            },
                            [&](i64 d, i64 q) FOVEA_LAMBDA { return load(Q_tile + q * 64 + d); }),
                        [&](i64 k, i64 d, floats dk) FOVEA_LAMBDA {
                            store(key_sum_tile + k * 64 + d, dk);
                        });
                    // dv[k, e] += sum over q of p * go
                    sum_tile<6, 4>(k_n, fixed<64>, q_n,
                        [&](i64 k, i64 e) FOVEA_LAMBDA {
                            return load(value_sum_tile + k * 64 + e);
                        },
                        products(
                            [&](i64 k, i64 q) FOVEA_LAMBDA { return p_tile[q * k_width + k]; },
                            [&](i64 e, i64 q) FOVEA_LAMBDA { return load(dO_tile + q * 64 + e); }),
                        [&](i64 k, i64 e, floats dv) FOVEA_LAMBDA {
                            store(value_sum_tile + k * 64 + e, dv);
                        });
                    // dq[q, d] += sum over k of ds_scaled * key
                    sum_tile<6, 4>(q_n, fixed<64>, k_n,
                        [&](i64 q, i64 d) FOVEA_LAMBDA { return load(dQ_tile + q * 64 + d); },
                        products(
                            [&](i64 q, i64 k) FOVEA_LAMBDA {
                                return ds_scaled_tile[q * k_width + k];
                            },
                            [&](i64 d, i64 k) FOVEA_LAMBDA { return load(K_tile + k * 64 + d); }),
                        [&](i64 q, i64 d, floats dq) FOVEA_LAMBDA {
                            store(dQ_tile + q * 64 + d, dq);
                        });
                }
                for (i64 k = 0; k < k_n; ++k)
                    for (i64 d = 0; d < 64; d += kLanes)
                        store(dK_tile + k * 64 + d, load(key_sum_tile + k * 64 + d));
                for (i64 k = 0; k < k_n; ++k)
                    for (i64 e = 0; e < 64; e += kLanes)
                        store(dV_tile + k * 64 + e, load(value_sum_tile + k * 64 + e));
            }
        }
}
