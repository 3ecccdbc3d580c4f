// What this machine can do at most: the peak of its multiply-add units, and how fast it reads
// memory. `fovea bench` compiles this file on the spot, so that the instruction set is the
// machine's and not that of the command.
#include <omp.h>

#include <atomic>
#include <chrono>

#include "runtime/cpu/matrix_tiles.h"
#include "runtime/cpu_features.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

// A vector as wide as one register, so that the chains below stay in registers.
#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif
using Vector = float __attribute__((vector_size(kBytes)));
constexpr int kLanes = kBytes / int(sizeof(float));
// Independent chains: more than latency times units of any machine (4 to 5 cycles, 2 units), and
// few enough for 16 registers.
constexpr int kChains = 12;
constexpr int kInner = 4096;

// Read at run time: a compiler that knew them would compute the sums itself.
volatile float factor = 0.999F, addend = 0.001F;
volatile float sink = 0;

/// `rounds` rounds of kInner multiply-adds on each of kChains vectors.
void multiply_add(long rounds) {
    const Vector a = Vector{} + factor, b = Vector{} + addend;
    Vector sum[kChains];
    for (int c = 0; c < kChains; ++c) sum[c] = Vector{} + float(c);
    for (long round = 0; round < rounds; ++round)
        for (int i = 0; i < kInner; ++i) FOVEA_UNROLL
    for (int c = 0; c < kChains; ++c) sum[c] = sum[c] * a + b;
    for (int c = 1; c < kChains; ++c) sum[0] += sum[c];
    sink = sum[0][0];
}

#if defined(__AVX512BF16__)
void dot_bf16(long rounds) {
    const __m512bh a = __m512bh(_mm512_set1_epi32(int(0x3f003f00U + (factor > 2))));
    __m512 sum[kChains];
    for (int c = 0; c < kChains; ++c) sum[c] = _mm512_set1_ps(float(c));
    for (long round = 0; round < rounds; ++round)
        for (int i = 0; i < kInner; ++i) FOVEA_UNROLL
    for (int c = 0; c < kChains; ++c) sum[c] = _mm512_dpbf16_ps(sum[c], a, a);
    for (int c = 1; c < kChains; ++c) sum[0] += sum[c];
    sink = sum[0][0];
}
#endif

#if defined(__AMX_BF16__)
/// `rounds` rounds of kInner products of tiles, four sums at a time.
void multiply_tiles(long rounds) {
    const fovea::cpu::MatrixShapes of_work;
    fovea::cpu::MatrixShapes::set(fovea::cpu::kMatrixRows, fovea::cpu::kMatrixRows);
    for (long round = 0; round < rounds; ++round)
        for (int i = 0; i < kInner / 4; ++i) {
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(2, 5, 6);
            _tile_dpbf16ps(3, 5, 7);
        }
}
#endif

/// Runs `work(rounds)` on every thread at once for about `seconds`; operations a second, a round
/// being `operations` of them.
double burst(void (*work)(long), double seconds, double operations) {
    Clock::time_point start = Clock::now();
    work(1);
    const long rounds = long(seconds / seconds_since(start)) + 1;
    double elapsed = 0;
    int threads = 1;
#pragma omp parallel
    {
#pragma omp master
        threads = omp_get_num_threads();
#pragma omp barrier
#pragma omp master
        start = Clock::now();
        work(rounds);
#pragma omp barrier
#pragma omp master
        elapsed = seconds_since(start);
    }
    return operations * double(rounds) * threads / elapsed;
}

}  // namespace

extern "C" {

/// `avx512`, `avx2`, `neon` or `baseline`.
const char* probe_isa() {
#if defined(__AVX512F__)
    return "avx512";
#elif defined(__AVX2__)
    return "avx2";
#elif defined(__aarch64__)
    return "neon";
#else
    return "baseline";
#endif
}

/// GFLOP/s in float32 of one burst, all threads together; a multiply-add counts twice.
double probe_gflops(double seconds) {
    return burst(multiply_add, seconds, 2.0 * kLanes * kChains * kInner) / 1e9;
}

/// The same for products of bfloat16, by tiles or in pairs; 0 where no instruction multiplies them.
double probe_bf16_gflops(double seconds) {
#if defined(__AMX_BF16__)
    constexpr double kProducts = 16.0 * 16 * 32;
    if (fovea::runtime::may_use_tiles())
        return burst(multiply_tiles, seconds, 2 * kProducts * kInner) / 1e9;
#endif
#if defined(__AVX512BF16__)
    return burst(dot_bf16, seconds, 4.0 * 16 * kChains * kInner) / 1e9;
#else
    return seconds * 0;
#endif
}

/// Nanoseconds until a value in memory comes back from another thread, over `seconds` of sending
/// it; 0 with one thread. Every barrier takes as long.
double probe_round_trip_ns(double seconds) {
    constexpr long kStop = -1;
    alignas(64) std::atomic<long> ball{0};  // odd: for thread 1; even: back
    double elapsed = 0;
    long rounds = 0;
    const auto send = [&](long value) { ball.store(value, std::memory_order_release); };
    const auto read = [&] { return ball.load(std::memory_order_acquire); };
#pragma omp parallel
    {
        if (omp_get_thread_num() == 1) {
            for (long seen = read(); seen != kStop; seen = read())
                if (seen % 2 == 1) send(seen + 1);
        } else if (omp_get_thread_num() == 0 && omp_get_num_threads() > 1) {
            const Clock::time_point start = Clock::now();
            while (elapsed < seconds) {
                constexpr int kRounds = 100;
                for (int i = 0; i < kRounds; ++i) {
                    const long back = 2 * ++rounds;
                    send(back - 1);
                    while (read() != back) {
                    }
                }
                elapsed = seconds_since(start);
            }
            send(kStop);
        }
    }
    return rounds > 0 ? elapsed / double(rounds) * 1e9 : 0;
}

/// GB/s (1e9 bytes) of one pass over `count` floats, each thread reading its own part.
double probe_read_gb_s(const float* data, long count) {
    constexpr long kStep = 8 * kLanes;
    const long steps = count / kStep;
    double elapsed = 0;
    Clock::time_point start;
#pragma omp parallel
    {
        const long threads = omp_get_num_threads(), thread = omp_get_thread_num();
        Vector sum[8]{};
#pragma omp barrier
#pragma omp master
        start = Clock::now();
        for (long step = steps * thread / threads; step < steps * (thread + 1) / threads; ++step)
            FOVEA_UNROLL
        for (int c = 0; c < 8; ++c) {
            Vector value;
            __builtin_memcpy(&value, data + step * kStep + c * kLanes, sizeof value);
            sum[c] += value;
        }
        for (int c = 1; c < 8; ++c) sum[0] += sum[c];
        sink = sum[0][0];
#pragma omp barrier
#pragma omp master
        elapsed = seconds_since(start);
    }
    return double(steps * kStep) * sizeof(float) / elapsed / 1e9;
}

}  // extern "C"
