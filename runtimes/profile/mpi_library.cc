// SPDX-License-Identifier: BSD-3-Clause

#include "runtimes/profile/mpi_library.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <link.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace poise::profile {

namespace {

std::vector<std::string> loaded_files() {
  std::vector<std::string> files;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        if (info->dlpi_name != nullptr && info->dlpi_name[0] != '\0')
          static_cast<std::vector<std::string>*>(list)->emplace_back(info->dlpi_name);
        return 0;
      },
      &files);
  return files;
}

/// The name of a function in the profiling interface: MPI_Send -> PMPI_Send, mpi_send_ ->
/// pmpi_send_.
std::string profiling_name(const char* name) {
  std::string text(1, name[0] == 'M' ? 'P' : 'p');
  return text += name;
}

/// In MPICH, a function of mpi_f08 calls a function with another prefix: mpi_wait_f08_ calls
/// pmpir_wait_f08_. Returns the name of the called function.
std::string mpich_f08_name(const char* name) {
  return "pmpir_" + std::string(name + std::strlen("mpi_"));
}

template <typename Function>
bool take(Function& function, const char* name) {
  function = reinterpret_cast<Function>(loaded_symbol(name));
  return function != nullptr;
}

}  // namespace

void* loaded_symbol(const char* name) {
  if (void* const found = ::dlsym(RTLD_NEXT, name)) return found;
  for (const std::string& file : loaded_files()) {
    void* const library = ::dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    void* const found = ::dlsym(library, name);
    ::dlclose(library);  // undoes dlopen() only; the library stays loaded
    if (found != nullptr) return found;
  }
  return nullptr;
}

void* loaded_variable(const char* name) {
  void* const found = ::dlsym(RTLD_DEFAULT, name);
  return found != nullptr ? found : loaded_symbol(name);
}

void* Twin::found() {
  void* address = ::dlsym(RTLD_NEXT, name_);
  if (address == nullptr) address = loaded_symbol(profiling_name(name_).c_str());
  if (address == nullptr && name_[0] == 'm') address = loaded_symbol(mpich_f08_name(name_).c_str());
  if (address == nullptr) {
    std::fprintf(stderr,
                 "poise profile: the program calls %s, which its MPI library does not have\n",
                 name_);
    ::_exit(127);
  }
  address_.store(address, std::memory_order_relaxed);
  return address;
}

const MpiLibrary* MpiLibrary::load(const char*& why_not) {
  static MpiLibrary library;
  static const char* const missing = [] {
    const char* const name = library.find_functions();
    if (name == nullptr) library.find_constants();
    return name;
  }();
  why_not = missing;
  return missing == nullptr ? &library : nullptr;
}

const char* MpiLibrary::find_functions() {
#define POISE_TAKE(member, name) \
  if (!take(member, "PMPI_" name)) return "PMPI_" name
  POISE_TAKE(query_thread, "Query_thread");
  POISE_TAKE(comm_rank, "Comm_rank");
  POISE_TAKE(comm_size, "Comm_size");
  POISE_TAKE(comm_group, "Comm_group");
  POISE_TAKE(comm_remote_group, "Comm_remote_group");
  POISE_TAKE(comm_test_inter, "Comm_test_inter");
  POISE_TAKE(comm_get_parent, "Comm_get_parent");
  POISE_TAKE(comm_idup, "Comm_idup");
  POISE_TAKE(comm_free, "Comm_free");
  POISE_TAKE(win_get_group, "Win_get_group");
  POISE_TAKE(group_size, "Group_size");
  POISE_TAKE(group_rank, "Group_rank");
  POISE_TAKE(group_free, "Group_free");
  POISE_TAKE(group_translate_ranks, "Group_translate_ranks");
  POISE_TAKE(type_size, "Type_size_x");
  POISE_TAKE(topo_test, "Topo_test");
  POISE_TAKE(cartdim_get, "Cartdim_get");
  POISE_TAKE(cart_shift, "Cart_shift");
  POISE_TAKE(graph_neighbors_count, "Graph_neighbors_count");
  POISE_TAKE(graph_neighbors, "Graph_neighbors");
  POISE_TAKE(dist_graph_neighbors_count, "Dist_graph_neighbors_count");
  POISE_TAKE(dist_graph_neighbors, "Dist_graph_neighbors");
  POISE_TAKE(send, "Send");
  POISE_TAKE(recv, "Recv");
  POISE_TAKE(allreduce, "Allreduce");
  POISE_TAKE(test, "Test");
  POISE_TAKE(issend, "Issend");
  POISE_TAKE(iprobe, "Iprobe");
  POISE_TAKE(ibarrier, "Ibarrier");
  POISE_TAKE(iallreduce, "Iallreduce");
  POISE_TAKE(get_count, "Get_count");
  POISE_TAKE(comm_split, "Comm_split");
  POISE_TAKE(bcast, "Bcast");
  POISE_TAKE(gather, "Gather");
  POISE_TAKE(gatherv, "Gatherv");
  POISE_TAKE(scatter, "Scatter");
  POISE_TAKE(sendrecv, "Sendrecv");
  take(file_f2c, "PMPI_File_f2c");  // an MPI may have been built without MPI-IO
  world = reinterpret_cast<Word>(loaded_variable("ompi_mpi_comm_world"));
  is_open_mpi = world != 0;
  if (!is_open_mpi) return nullptr;  // in MPICH, handles of Fortran and C are the same integers
  POISE_TAKE(comm_c2f, "Comm_c2f");
  POISE_TAKE(comm_f2c, "Comm_f2c");
  POISE_TAKE(type_f2c, "Type_f2c");
  POISE_TAKE(request_f2c, "Request_f2c");
  POISE_TAKE(win_f2c, "Win_f2c");
  POISE_TAKE(group_f2c, "Group_f2c");
#undef POISE_TAKE
  return nullptr;
}

/// Sets the constants to their values in the mpi.h of Open MPI or of MPICH. MPICH's ABI fixes these
/// values, so Intel MPI and Cray MPICH have the same ones.
void MpiLibrary::find_constants() {
  const auto object = [](const char* name) {
    return reinterpret_cast<Word>(loaded_variable(name));
  };
  if (is_open_mpi) {
    proc_null = -2;
    any_source = -1;
    fortran_ignored_[0] = object("mpi_fortran_status_ignore_");
    fortran_ignored_[1] = object("mpi_fortran_statuses_ignore_");
    cart = 1, graph = 2, dist_graph = 3;
    comm_null = object("ompi_mpi_comm_null");
    request_null = object("ompi_request_null");
    byte = object("ompi_mpi_byte");
    double_type = object("ompi_mpi_double");
    max = object("ompi_mpi_op_max");
    min = object("ompi_mpi_op_min");
    in_place_ = 1;
    fortran_in_place_ = object("mpi_fortran_in_place_");
    status_ignore = 0;
    c_weights_[0] = 2, c_weights_[1] = 3;
    fortran_weights_[0] = f08_weights_[0] = object("mpi_fortran_unweighted_");
    fortran_weights_[1] = f08_weights_[1] = object("mpi_fortran_weights_empty_");
    return;
  }
  proc_null = -1;
  any_source = -2;
  // MPICH has one pair of constants for mpi_f08, and another pair for mpif.h and `use mpi`.
  fortran_ignored_[0] = object("MPIR_F08_MPI_STATUS_IGNORE_OBJ");
  fortran_ignored_[1] = object("MPIR_F08_MPI_STATUSES_IGNORE_OBJ");
  mpif_ignored_[0] = reinterpret_cast<const Word*>(object("MPI_F_STATUS_IGNORE"));
  mpif_ignored_[1] = reinterpret_cast<const Word*>(object("MPI_F_STATUSES_IGNORE"));
  graph = 1, cart = 2, dist_graph = 3;
  world = 0x44000000;
  comm_null = 0x04000000;
  request_null = 0x2c000000;
  byte = 0x4c00010d;
  double_type = 0x4c00080b;
  max = 0x58000001;
  min = 0x58000002;
  in_place_ = ~Word{0};
  fortran_in_place_ = object("MPIR_F_MPI_IN_PLACE");
  status_ignore = 1;
  const auto value = [&](const char* name) {
    const Word address = object(name);
    return address == 0 ? 0 : *reinterpret_cast<const Word*>(address);
  };
  c_weights_[0] = value("MPI_UNWEIGHTED");
  c_weights_[1] = value("MPI_WEIGHTS_EMPTY");
  fortran_weights_[0] = value("MPIR_F_MPI_UNWEIGHTED");
  fortran_weights_[1] = value("MPIR_F_MPI_WEIGHTS_EMPTY");
  // The symbols that gfortran gives to variables of MPICH's module mpi_f08_link_constants.
  f08_weights_[0] = object("__mpi_f08_link_constants_MOD_mpi_unweighted");
  f08_weights_[1] = object("__mpi_f08_link_constants_MOD_mpi_weights_empty");
}

MpiLibrary::Weights MpiLibrary::weights_of(Language language, bool is_f08, Word weights) const {
  const Word* const known = language == Language::c ? c_weights_
                            : is_f08                ? f08_weights_
                                                    : fortran_weights_;
  if (known[0] == 0 || known[1] == 0) return Weights::unknown;
  return weights == known[0] || weights == known[1] || weights == 0 ? Weights::none
                                                                    : Weights::are_there;
}

}  // namespace poise::profile
