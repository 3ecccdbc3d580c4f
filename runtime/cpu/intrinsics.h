// The intrinsics of x86's vectors. g++ 12's own header reads those of all extensions, 70,000 lines,
// which takes longer than a small model's kernels: only those that are compiled for are read.
#pragma once

#if defined(__AVX2__) && defined(__GNUC__) && __GNUC__ == 12 && !defined(__clang__)
#include <smmintrin.h>
#include <wmmintrin.h>
// The headers of extensions ask whether the one that includes them all was included.
#pragma push_macro("_IMMINTRIN_H_INCLUDED")
#undef _IMMINTRIN_H_INCLUDED
#define _IMMINTRIN_H_INCLUDED  // NOLINT(bugprone-reserved-identifier)
// clang-format off: each reads types of those before it
#include <avxintrin.h>
#include <avx2intrin.h>
#include <fmaintrin.h>
#include <f16cintrin.h>
#if defined(__AVX512F__)
#include <avx512fintrin.h>
#include <avx512vlintrin.h>
#include <avx512bwintrin.h>
#include <avx512dqintrin.h>
#include <avx512vlbwintrin.h>
#include <avx512vldqintrin.h>
#endif
#if defined(__AVX512VNNI__)
#include <avx512vnniintrin.h>
#endif
#if defined(__AVX512BF16__)
#include <avx512bf16vlintrin.h>
#include <avx512bf16intrin.h>
#endif
#if defined(__AMX_TILE__)
#include <amxtileintrin.h>
#include <amxbf16intrin.h>
#endif
// clang-format on
#pragma pop_macro("_IMMINTRIN_H_INCLUDED")
#elif defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif
