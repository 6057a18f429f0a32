// SPDX-License-Identifier: BSD-3-Clause

#include "faces/chameleon/image.h"

#include <cstring>
#include <elf.h>
#include <link.h>
#include <optional>
#include <string_view>
#include <vector>

#include "poise/base/error.h"

namespace poise::chameleon {

namespace {

struct Image {
  std::uint64_t key = 0, base = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> segments;
};

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

std::optional<std::uint64_t> hash_of_build_id(const char* notes, std::size_t bytes) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= bytes) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::size_t name = at + sizeof note, text = name + (note.n_namesz + 3) / 4 * 4;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && text + note.n_descsz <= bytes)
      return hash_of({notes + text, note.n_descsz});
    at = text + (note.n_descsz + 3) / 4 * 4;
  }
  return std::nullopt;
}

int add_image(dl_phdr_info* info, std::size_t, void* images) {
  Image image;
  image.base = info->dlpi_addr;
  std::optional<std::uint64_t> build_id;
  std::string_view code;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD) image.segments.emplace_back(begin, begin + header.p_memsz);
    const auto* bytes = reinterpret_cast<const char*>(begin);
    if (header.p_type == PT_LOAD && (header.p_flags & PF_X)) code = {bytes, header.p_filesz};
    if (header.p_type == PT_NOTE && !build_id) build_id = hash_of_build_id(bytes, header.p_memsz);
  }
  image.key = build_id ? *build_id : hash_of(code);
  static_cast<std::vector<Image>*>(images)->push_back(std::move(image));
  return 0;
}

std::vector<Image> loaded_images() {
  std::vector<Image> images;
  dl_iterate_phdr(add_image, &images);
  return images;
}

}  // namespace

CodeAddress address_of(void* code) {
  const auto address = reinterpret_cast<std::uint64_t>(code);
  thread_local std::vector<Image> images;  // if none contains the address, all are read again
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const Image& image : images)
      for (const auto& [begin, end] : image.segments)
        if (begin <= address && address < end) return {image.key, address - image.base};
    images = loaded_images();
  }
  fail("{} is not the address of a function in the program or in one of its libraries", code);
}

void* code_at(const CodeAddress& address) {
  thread_local std::vector<Image> images;
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const Image& image : images)
      if (image.key == address.image) return reinterpret_cast<void*>(image.base + address.offset);
    images = loaded_images();
  }
  fail(
      "this rank has not loaded the program or library that contains the code of a task; run the "
      "same build on all ranks");
}

}  // namespace poise::chameleon
