// SPDX-License-Identifier: BSD-3-Clause
// The MPI functions that programs call from C and from Fortran (mpif.h, mpi, mpi_f08). Each wrapper
// informs the session, calls the real function, and informs the session again. This is the only
// file that exports symbols.
#include <tuple>
#include <utility>

#include "runtimes/profile/function.h"
#include "runtimes/profile/mpi_library.h"
#include "runtimes/profile/session.h"

namespace poise::profile {

namespace {

template <std::size_t... I>
auto as_tuple(const Word* words, std::index_sequence<I...>) {
  return std::make_tuple(words[I]...);
}

/// These functions are not inlined, because there are more than a thousand wrappers. All wrapped
/// functions return an int.
template <typename... Words>
[[gnu::noinline]] int relay(Twin& twin, const Function& function, Language language,
                            Words... words) {
  const auto relayed = reinterpret_cast<int (*)(Words...)>(twin.address());
  Word arguments[] = {words..., 0};
  Call call{function, language, arguments, sizeof...(words)};
  if (!enter(call)) return relayed(words...);
  // MPI gets `arguments`. They differ from `words`, the program's arguments, if the program passed
  // MPI_STATUS_IGNORE and the profiler replaced MPI_STATUS_IGNORE by a status.
  const int result = std::apply(relayed, as_tuple(arguments, std::index_sequence_for<Words...>()));
  leave(call, result);
  return result;
}

}  // namespace

}  // namespace poise::profile

// For each number of arguments, WORDS is the parameter list of a wrapper's definition, and PASSED
// the list with which the wrapper passes these parameters on.
#define WORDS_0
#define WORDS_1 Word a
#define WORDS_2 WORDS_1, Word b
#define WORDS_3 WORDS_2, Word c
#define WORDS_4 WORDS_3, Word d
#define WORDS_5 WORDS_4, Word e
#define WORDS_6 WORDS_5, Word f
#define WORDS_7 WORDS_6, Word g
#define WORDS_8 WORDS_7, Word h
#define WORDS_9 WORDS_8, Word i
#define WORDS_10 WORDS_9, Word j
#define WORDS_11 WORDS_10, Word k
#define WORDS_12 WORDS_11, Word l
#define WORDS_13 WORDS_12, Word m
#define WORDS_14 WORDS_13, Word n
#define PASSED_0
#define PASSED_1 , a
#define PASSED_2 PASSED_1, b
#define PASSED_3 PASSED_2, c
#define PASSED_4 PASSED_3, d
#define PASSED_5 PASSED_4, e
#define PASSED_6 PASSED_5, f
#define PASSED_7 PASSED_6, g
#define PASSED_8 PASSED_7, h
#define PASSED_9 PASSED_8, i
#define PASSED_10 PASSED_9, j
#define PASSED_11 PASSED_10, k
#define PASSED_12 PASSED_11, l
#define PASSED_13 PASSED_12, m
#define PASSED_14 PASSED_13, n

#define WRAPPER(symbol, arity, language, time, what, ...)                                          \
  extern "C" __attribute__((visibility("default"))) int symbol(WORDS_##arity) {                    \
    static constinit Twin twin(#symbol);                                                           \
    static constexpr Function function{                                                            \
        .name = #symbol, .kind = Kind::time, .meaning = Meaning::what __VA_OPT__(, ) __VA_ARGS__}; \
    return relay(twin, function, Language::language PASSED_##arity);                               \
  }
#define POISE_MPI_C(name, arity, kind, meaning, ...) \
  WRAPPER(MPI_##name, arity, c, kind, meaning __VA_OPT__(, ) __VA_ARGS__)
#define POISE_MPI(name, lower, c_arity, fortran_arity, kind, meaning, ...)                  \
  WRAPPER(MPI_##name, c_arity, c, kind, meaning __VA_OPT__(, ) __VA_ARGS__)                 \
  WRAPPER(mpi_##lower##_, fortran_arity, fortran, kind, meaning __VA_OPT__(, ) __VA_ARGS__) \
  WRAPPER(mpi_##lower##_f08_, fortran_arity, fortran, kind, meaning __VA_OPT__(, ) __VA_ARGS__)

using namespace poise::profile;

#include "runtimes/profile/functions.inc"
