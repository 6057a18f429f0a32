// SPDX-License-Identifier: BSD-3-Clause

#include "poise/trace/brotli.h"

#include <algorithm>
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <cstdint>
#include <memory>

#include "poise/base/check.h"

namespace poise {

std::optional<std::string> brotli_decompress(std::string_view stream) {
  const std::size_t max_size = (std::size_t{16} << 20) + 10'000 * stream.size();
  const std::unique_ptr<BrotliDecoderState, decltype(&BrotliDecoderDestroyInstance)> decoder(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
  std::size_t left = stream.size();
  auto next = reinterpret_cast<const std::uint8_t*>(stream.data());
  std::string bytes;
  for (;;) {
    std::size_t no_room = 0;
    const auto result =
        BrotliDecoderDecompressStream(decoder.get(), &left, &next, &no_room, nullptr, nullptr);
    std::size_t size = 0;  // 0 requests all output; the call changes it to the output's size
    const std::uint8_t* output = BrotliDecoderTakeOutput(decoder.get(), &size);
    if (bytes.size() + size > max_size) return std::nullopt;
    if (size != 0) bytes.append(reinterpret_cast<const char*>(output), size);
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) continue;
    if (result == BROTLI_DECODER_RESULT_SUCCESS && left == 0) return bytes;
    return std::nullopt;
  }
}

std::string brotli_compress(std::string_view bytes) {
  constexpr int kQuality = 5;
  std::size_t size = std::max<std::size_t>(BrotliEncoderMaxCompressedSize(bytes.size()), 16);
  std::string stream(size, '\0');
  const bool done =
      BrotliEncoderCompress(kQuality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, bytes.size(),
                            reinterpret_cast<const std::uint8_t*>(bytes.data()), &size,
                            reinterpret_cast<std::uint8_t*>(stream.data())) == BROTLI_TRUE;
  POISE_CHECK(done);
  stream.resize(size);
  return stream;
}

}  // namespace poise
