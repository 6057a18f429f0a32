// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/weak_references.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "runtimes/profile/mpi_library.h"

namespace poise::profile {

namespace {

/// A memory location that holds the address of the function with this name.
struct Reference {
  const char* name;
  void** slot;
  bool is_read_only;
};

/// The parts of a loaded object's dynamic section that describe its references.
struct Dynamic {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * relocations = nullptr;
  std::size_t num_relocations = 0;
};

Dynamic dynamic_of(const dl_phdr_info& object, const ElfW(Dyn) * entry) {
  Dynamic found;
  for (; entry->d_tag != DT_NULL; ++entry) {
    // The loader turns the offsets in a dynamic section into addresses, except in the vDSO.
    const ElfW(Addr) value = entry->d_un.d_ptr;
    const ElfW(Addr) address = value < object.dlpi_addr ? value + object.dlpi_addr : value;
    switch (entry->d_tag) {
      case DT_SYMTAB: found.symbols = reinterpret_cast<const ElfW(Sym)*>(address); break;
      case DT_STRTAB: found.names = reinterpret_cast<const char*>(address); break;
      case DT_RELA: found.relocations = reinterpret_cast<const ElfW(Rela)*>(address); break;
      case DT_RELASZ: found.num_relocations = value / sizeof(ElfW(Rela)); break;
      default: break;
    }
  }
  return found;
}

/// Appends the weak references to MPI functions in a loaded object (program or library).
void append_references(const dl_phdr_info& object, std::vector<Reference>& references) {
  Dynamic dynamic;
  ElfW(Addr) read_only = 0, read_only_end = 0;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    const ElfW(Addr) begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC)
      dynamic = dynamic_of(object, reinterpret_cast<const ElfW(Dyn)*>(begin));
    if (part.p_type == PT_GNU_RELRO) read_only = begin, read_only_end = begin + part.p_memsz;
  }
  if (dynamic.symbols == nullptr || dynamic.names == nullptr || dynamic.relocations == nullptr)
    return;
  for (std::size_t i = 0; i < dynamic.num_relocations; ++i) {
    const ElfW(Rela)& relocation = dynamic.relocations[i];
    const ElfW(Sym)& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
    const char* const name = dynamic.names + symbol.st_name;
    if (ELF64_ST_BIND(symbol.st_info) != STB_WEAK || symbol.st_shndx != SHN_UNDEF ||
        std::strncmp(name, "MPI_", 4) != 0)
      continue;
    const ElfW(Addr) slot = object.dlpi_addr + relocation.r_offset;
    references.push_back(
        {name, reinterpret_cast<void**>(slot), slot >= read_only && slot < read_only_end});
  }
}

std::vector<Reference> weak_references() {
  std::vector<Reference> references;
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* list) {
        append_references(*object, *static_cast<std::vector<Reference>*>(list));
        return 0;
      },
      &references);
  return references;
}

const void* base_of(const void* address) {
  Dl_info info{};
  return address != nullptr && ::dladdr(address, &info) != 0 ? info.dli_fbase : nullptr;
}

/// Returns the loaded MPI library, for dlsym(), or null.
void* mpi_handle() {
  Dl_info info{};
  void* const init = loaded_symbol("PMPI_Init");
  if (init == nullptr || ::dladdr(init, &info) == 0) return nullptr;
  return ::dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

void set_null(const Reference& reference) {
  const auto page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto slot = reinterpret_cast<std::uintptr_t>(reference.slot);
  void* const page = reinterpret_cast<void*>(slot / page_size * page_size);
  if (reference.is_read_only && ::mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
  *reference.slot = nullptr;
  if (reference.is_read_only) ::mprotect(page, page_size, PROT_READ);
}

}  // namespace

void drop_weak_references_to_missing_functions() noexcept try {
  const std::vector<Reference> references = weak_references();
  if (references.empty()) return;
  void* const mpi = mpi_handle();
  if (mpi == nullptr) return;
  const void* const own = base_of(reinterpret_cast<const void*>(&mpi_handle));
  for (const Reference& reference : references) {
    const std::string name = std::string(1, 'P') += reference.name;
    if (base_of(*reference.slot) == own && ::dlsym(mpi, name.c_str()) == nullptr)
      set_null(reference);
  }
  ::dlclose(mpi);  // undoes dlopen() only; the library stays loaded
} catch (...) {    // out of memory: the weak references keep their addresses
}

}  // namespace poise::profile
