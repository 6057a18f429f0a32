// SPDX-License-Identifier: BSD-3-Clause
// Converts rows of JSON to comma-separated values (RFC 4180).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace poise::apps {

/// Returns one line of names, and one line per object of the list. Keys of nested objects become
/// "outer_inner". Null and missing values become empty fields.
std::string csv_of(const nlohmann::ordered_json& rows);

}  // namespace poise::apps
