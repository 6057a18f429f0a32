// SPDX-License-Identifier: BSD-3-Clause
// Finds at run time which MPI library this process has loaded, because the profile's own library is
// not linked to any MPI.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtimes/profile/function.h"

namespace poise::profile {

/// Returns the address of a function, or null if no loaded library has it. First searches the
/// libraries after this one in the linker's search order. Then searches every loaded library,
/// because the first search cannot find an MPI library that Python has loaded.
void* loaded_symbol(const char* name);

/// Returns the address of a library's variable. If the program has a copy of the variable, all
/// libraries use that copy.
void* loaded_variable(const char* name);

/// The function to which a wrapper passes the call on: another tool's wrapper of the same function
/// if there is one, otherwise MPI's function.
class Twin {
 public:
  /// `name` is the one that programs call, such as MPI_Send, mpi_send_ or mpi_send_f08_.
  constexpr explicit Twin(const char* name) : name_(name) {}
  /// The function's address. If the loaded MPI library has no such function, the process ends with
  /// a line on stderr, as a dynamic linker would do.
  void* address() {
    void* const known = address_.load(std::memory_order_relaxed);
    return known != nullptr ? known : found();
  }

 private:
  void* found();
  const char* name_;
  std::atomic<void*> address_ = nullptr;
};

/// The functions and constants of the MPI library. Handles are stored as words, because they are
/// ints in MPICH and its derivatives and pointers in Open MPI.
struct MpiLibrary {
  bool is_open_mpi = false;
  int proc_null = 0, any_source = 0, any_tag = -1, undefined = -32766, cart = 0, graph = 0,
      dist_graph = 0;
  Word world = 0, comm_null = 0, request_null = 0, byte = 0, double_type = 0, max = 0, min = 0;
  Word status_ignore = 0;

  int (*query_thread)(int*) = nullptr;
  int (*comm_rank)(Word, int*) = nullptr;
  int (*comm_size)(Word, int*) = nullptr;
  int (*comm_group)(Word, Word*) = nullptr;
  int (*comm_remote_group)(Word, Word*) = nullptr;
  int (*comm_test_inter)(Word, int*) = nullptr;
  int (*comm_get_parent)(Word*) = nullptr;
  int (*comm_idup)(Word, Word*, Word*) = nullptr;
  int (*comm_free)(Word*) = nullptr;
  int (*win_get_group)(Word, Word*) = nullptr;
  int (*group_size)(Word, int*) = nullptr;
  int (*group_rank)(Word, int*) = nullptr;
  int (*group_free)(Word*) = nullptr;
  int (*group_translate_ranks)(Word, int, const int*, Word, int*) = nullptr;
  int (*type_size)(Word, std::int64_t*) = nullptr;  // MPI_Type_size_x
  int (*topo_test)(Word, int*) = nullptr;
  int (*cartdim_get)(Word, int*) = nullptr;
  int (*cart_shift)(Word, int, int, int*, int*) = nullptr;
  int (*graph_neighbors_count)(Word, int, int*) = nullptr;
  int (*graph_neighbors)(Word, int, int, int*) = nullptr;
  int (*dist_graph_neighbors_count)(Word, int*, int*, int*) = nullptr;
  int (*dist_graph_neighbors)(Word, int, int*, int*, int, int*, int*) = nullptr;
  int (*send)(const void*, int, Word, int, int, Word) = nullptr;
  int (*recv)(void*, int, Word, int, int, Word, void*) = nullptr;
  int (*allreduce)(const void*, void*, int, Word, Word, Word) = nullptr;
  int (*test)(Word*, int*, Word status) = nullptr;
  int (*issend)(const void*, int, Word, int, int, Word, Word*) = nullptr;
  int (*iprobe)(int, int, Word, int*, void*) = nullptr;
  int (*ibarrier)(Word, Word*) = nullptr;
  int (*iallreduce)(const void*, void*, int, Word, Word, Word, Word*) = nullptr;
  int (*get_count)(const void*, Word, int*) = nullptr;
  int (*comm_split)(Word, int, int, Word*) = nullptr;
  int (*bcast)(void*, int, Word, int, Word) = nullptr;
  int (*gather)(const void*, int, Word, void*, int, Word, int, Word) = nullptr;
  int (*gatherv)(const void*, int, Word, void*, const int*, const int*, Word, int, Word) = nullptr;
  int (*scatter)(const void*, int, Word, void*, int, Word, int, Word) = nullptr;
  int (*sendrecv)(const void*, int, Word, int, int, void*, int, Word, int, int, Word,
                  Word status) = nullptr;

  /// These functions convert Fortran handles to C handles.
  Word comm_of(int fortran) const { return c_handle(comm_f2c, fortran); }
  Word type_of(int fortran) const { return c_handle(type_f2c, fortran); }
  Word request_of(int fortran) const { return c_handle(request_f2c, fortran); }
  Word win_of(int fortran) const { return c_handle(win_f2c, fortran); }
  Word group_of(int fortran) const { return c_handle(group_f2c, fortran); }
  /// MPI_File is a pointer in every MPI library. Returns 0 if the loaded library was built without
  /// MPI-IO.
  Word file_of(int fortran) const { return file_f2c == nullptr ? 0 : file_f2c(fortran); }
  /// Returns the Fortran handle of a communicator.
  int fortran_comm(Word comm) const { return is_open_mpi ? comm_c2f(comm) : comm; }

  /// Whether the edges of a distributed graph have weights. The value is `unknown` if the MPI
  /// library's constants for "no weights" were not found.
  enum class Weights : std::uint8_t { unknown, none, are_there };
  /// Classifies the argument `weights`. `is_f08` is true if the caller is a function of mpi_f08.
  Weights weights_of(Language language, bool is_f08, Word weights) const;

  /// True if a buffer is MPI_IN_PLACE.
  bool is_in_place(Language language, Word buffer) const {
    if (language == Language::c) return buffer == in_place_;
    return is_open_mpi ? buffer == fortran_in_place_
                       : fortran_in_place_ != 0 &&
                             buffer == *reinterpret_cast<const Word*>(fortran_in_place_);
  }

  /// True if the status argument of a call is MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE.
  bool is_status_ignored(Language language, Word status) const {
    if (language == Language::c) return status == status_ignore;
    const auto is_in = [&](const Word* variable) {
      return variable != nullptr && status == *variable;
    };
    return status == 0 || status == fortran_ignored_[0] || status == fortran_ignored_[1] ||
           is_in(mpif_ignored_[0]) || is_in(mpif_ignored_[1]);
  }
  /// Returns the source rank that an MPI_Status contains. C and Fortran store it at the same
  /// position.
  int source_of(const void* status) const {
    return static_cast<const int*>(status)[is_open_mpi ? 0 : 2];
  }
  int tag_of(const void* status) const {
    return static_cast<const int*>(status)[is_open_mpi ? 1 : 3];
  }
  std::size_t status_size() const { return is_open_mpi ? 24 : 20; }

  /// Returns the handle in a form that can be compared with others. If handles are ints, the upper
  /// half of the register that passed the handle is undefined and is set to 0.
  Word plain(Word handle) const { return is_open_mpi ? handle : handle & 0xffffffff; }
  /// Returns the MPI handle that is stored at an address of the program.
  Word read(const void* address) const {
    return is_open_mpi ? *static_cast<const Word*>(address)
                       : *static_cast<const std::uint32_t*>(address);
  }

  /// Returns null and sets `why_not` if a function is missing.
  static const MpiLibrary* load(const char*& why_not);

 private:
  using Converter = Word (*)(int);
  Word c_handle(Converter convert, int fortran) const {
    return is_open_mpi ? convert(fortran) : static_cast<std::uint32_t>(fortran);
  }
  const char* find_functions();
  void find_constants();
  Word in_place_ = 0;
  Word fortran_ignored_[2] = {};  // addresses
  /// With MPICH, the variables that hold the addresses of MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE
  /// in mpif.h and `use mpi`. MPICH sets these variables in the first call from Fortran.
  const Word* mpif_ignored_[2] = {};
  /// With Open MPI, the address of Fortran's MPI_IN_PLACE. With MPICH, the address of a variable
  /// that holds the address of Fortran's MPI_IN_PLACE.
  Word fortran_in_place_ = 0;
  // MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY; 0 if their values are not known
  Word c_weights_[2] = {}, fortran_weights_[2] = {}, f08_weights_[2] = {};
  int (*comm_c2f)(Word) = nullptr;
  Converter comm_f2c = nullptr, type_f2c = nullptr, request_f2c = nullptr, win_f2c = nullptr,
            group_f2c = nullptr, file_f2c = nullptr;
};

}  // namespace poise::profile
