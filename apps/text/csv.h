// Rows of JSON as comma-separated values (RFC 4180).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace poise::apps {

/// A line of names and one for each object of the list. Keys of objects inside become
/// "outer_inner"; what a row lacks, and null, is an empty field.
std::string csv_of(const nlohmann::ordered_json& rows);

}  // namespace poise::apps
