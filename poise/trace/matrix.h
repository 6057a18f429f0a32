// SPDX-License-Identifier: BSD-3-Clause
// Reads communication matrices as traces, from MatrixMarket files and CSV tables. The trace has one
// phase; row i, column j holds the bytes that task i sends to task j.
#pragma once

#include <string>
#include <string_view>

#include "poise/trace/trace.h"

namespace poise::matrix {

/// First bytes of a MatrixMarket file.
inline constexpr std::string_view kMagic = "%%MatrixMarket";

/// Reads a square matrix in coordinate or array form, with real, integer or pattern entries (an
/// entry of a pattern is 1 byte). In symmetric matrices each entry counts in both directions.
/// Format: Boisvert et al., "The Matrix Market Exchange Formats", NISTIR 5935, 1996. Entries of the
/// same pair add up; the diagonal is ignored. The format has no loads, so every task gets a load of
/// 1 µs. Throws Error with the line if the file is invalid.
Trace read_matrix_market(const std::string& name, std::string_view text);

/// True if the text may be a square matrix: it has n lines, with n at least 2, and every line has n
/// words, separated by blanks. But if the first number is n - 1, returns false, because the text
/// may then be a METIS graph of n - 1 vertices.
bool is_square(std::string_view text);

/// Reads one of two forms. A matrix has n lines of n numbers. A list of messages has one line with
/// the names of the columns, in any order, and then one line per message. Its columns are `from`
/// and `to` (tasks, from 0), `bytes`, and optionally `messages`. A line describes `messages`
/// messages (1 if the column is absent) of `bytes` bytes in total. The table has no loads, so every
/// task gets a load of 1 µs. Values are separated by semicolons or commas, or by blanks if the
/// first line has neither. Throws Error naming the line if the file is invalid.
Trace read_csv(const std::string& name, std::string_view text);

}  // namespace poise::matrix
