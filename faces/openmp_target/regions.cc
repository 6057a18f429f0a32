// SPDX-License-Identifier: BSD-3-Clause

#include "faces/openmp_target/regions.h"

#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

#include "faces/openmp_target/trouble.h"

namespace poise::openmp_target {

namespace {

std::mutex mutex;
std::map<const void*, void*> code;  // by mark

bool requires_too_much = false;

void complain(const std::string& why) { say(why, "run on their own rank"); }

/// Returns the ELF file in an image, or an empty text if the image contains none. Some compilers
/// put a header before the ELF file.
std::string_view elf_of(const DeviceImage& image) {
  std::string_view bytes(image.begin, image.end - image.begin);
  WrappedHeader header;
  if (bytes.size() >= sizeof header && bytes.starts_with("\x10\xFF\x10\xAD")) {
    std::memcpy(&header, bytes.data(), sizeof header);
    WrappedEntry entry;
    if (header.entry_offset > bytes.size() || bytes.size() - header.entry_offset < sizeof entry)
      return {};
    std::memcpy(&entry, bytes.data() + header.entry_offset, sizeof entry);
    if (entry.image_offset > bytes.size()) return {};
    bytes = bytes.substr(entry.image_offset, entry.image_size);
  }
  return bytes.starts_with(
             "\x7f"
             "ELF")
             ? bytes
             : std::string_view();
}

/// Loads bytes as a library. Returns null if that fails; dlerror() or errno then give the reason.
void* open_library(std::string_view bytes) {
  const int file = ::memfd_create("omp_target", MFD_CLOEXEC);
  if (file < 0) return nullptr;
  void* library = nullptr;
  if (::write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()))
    library = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  ::close(file);
  return library;
}

void load(const DeviceImage& image) {
  for (const Entry* entry = image.entries_begin; entry != image.entries_end; ++entry)
    if (entry->size > 0)
      return complain(std::string("the variable ") + entry->name +
                      " is `declare target`, which ranks do not keep equal");
  const std::string_view elf = elf_of(image);
  if (elf.empty()) return complain("the program has code for a device other than the processor");
  void* library = open_library(elf);
  if (!library) {
    const char* why = ::dlerror();
    return complain(std::string("its code cannot be loaded: ") + (why ? why : "no memory file"));
  }
  for (const Entry* entry = image.entries_begin; entry != image.entries_end; ++entry)
    if (void* found = ::dlsym(library, entry->name)) code[entry->address] = found;
}

}  // namespace

void require(std::int64_t what) {
  const std::lock_guard lock(mutex);
  if (!(what & (kReverseOffload | kUnifiedAddress | kUnifiedSharedMemory))) return;
  requires_too_much = true;
  complain("the program requires the memory or the calls of its own rank");
}

void load(const Binary& binary) {
  for (const Entry* entry = binary.host_begin; entry != binary.host_end; ++entry)
    if (entry->flags & Entry::kRequires && !entry->address) require(entry->data);
  const std::lock_guard lock(mutex);
  for (std::int32_t i = 0; i < binary.num_images; ++i) load(binary.images[i]);
}

void* code_of(const void* mark) {
  const std::lock_guard lock(mutex);
  const auto found = code.find(mark);
  return found == code.end() || requires_too_much ? nullptr : found->second;
}

}  // namespace poise::openmp_target
