// Copies of lent data, which whoever copies will not read again soon.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace poise::tasks {

/// As memcpy, but where the processor can, `to` is written past the caches: they keep what the next
/// task needs, and memory is not read only to be overwritten. Worth it from some pages on.
inline void copy_past_caches(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
#ifdef __SSE2__
  constexpr std::size_t kLine = 64, kAhead = 8192;  // two pages: their addresses are looked up, too
  const std::size_t before_line = -reinterpret_cast<std::uintptr_t>(target) % kLine;
  const std::size_t first = std::min(bytes, before_line);
  std::memcpy(target, source, first);
  target += first, source += first, bytes -= first;
  for (; bytes >= kLine; target += kLine, source += kLine, bytes -= kLine) {
    const auto* words = reinterpret_cast<const __m128i*>(source);
    auto* stored = reinterpret_cast<__m128i*>(target);
    if (bytes > kAhead) _mm_prefetch(reinterpret_cast<const char*>(source + kAhead), _MM_HINT_NTA);
    const __m128i a = _mm_loadu_si128(words), b = _mm_loadu_si128(words + 1),
                  c = _mm_loadu_si128(words + 2), d = _mm_loadu_si128(words + 3);
    _mm_stream_si128(stored, a);
    _mm_stream_si128(stored + 1, b);
    _mm_stream_si128(stored + 2, c);
    _mm_stream_si128(stored + 3, d);
  }
  _mm_sfence();  // before anybody is told that it is there
#endif
  std::memcpy(target, source, bytes);
}

}  // namespace poise::tasks
