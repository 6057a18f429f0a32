// SPDX-License-Identifier: BSD-3-Clause
// The native format `.poise`: a header, then sections with checksums (docs/formats.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "poise/trace/trace.h"

namespace poise::native {

/// The first bytes of every file. They contain a line break, which changes if the file is copied in
/// text mode, so the reader refuses such a copy.
inline constexpr std::string_view kMagic = "\x89POISE\r\n";
/// True if a file that begins with these bytes may be in this format. `bytes` may be shorter than
/// kMagic.
inline bool may_begin(std::string_view bytes) {
  return kMagic.starts_with(bytes.substr(0, kMagic.size()));
}

/// The maximum number of places that a file of this size may have. The reader allocates memory for
/// places, so a small file must not claim millions of them.
std::uint32_t max_places_of(std::size_t file_size);

/// Says whether the reader accepts an incomplete file.
enum class Reading {
  whole,    // an incomplete file is an error
  recover,  // returns the complete phases before the first damage
};

/// Reads a file. `name` is used in errors, which also give the byte offset. Memory is allocated
/// only for data that the file contains.
Trace read(const std::string& name, std::string_view bytes, Reading reading = Reading::whole);

/// A section that a program adds for its own use; read() skips it. `tag` has four letters.
struct Attachment {
  std::string tag, payload;
};

/// Returns the bytes of a file that contains the phases of the trace, followed by the attachments.
/// Throws Error if read() would refuse the file because the trace has too many places.
std::string write(const Trace& trace, const std::vector<Attachment>& attachments = {});

/// Returns the payload of the attachment with this tag, or nothing if the file has none.
std::optional<std::string> attachment(const std::string& name, std::string_view bytes,
                                      std::string_view tag);

/// Writes a trace phase by phase. Each phase is written as a whole, so Reading::recover always
/// finds all phases added before a failure.
class Recording {
 public:
  /// Creates the file. Throws Error naming the file if that fails, or if another Recording, of any
  /// process, is writing to it (noticed only in file systems that have flock()).
  Recording(const std::string& path, std::uint32_t num_places, const Machine* machine = nullptr);
  /// The destructor leaves the file incomplete unless finish() was called.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Appends a phase. If the file cannot be written, throws Error; the file then ends with the
  /// previous phase.
  void add(const Phase& phase);

  /// Marks the file as complete and closes it.
  void finish();

 private:
  void append(std::string_view bytes);

  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t num_phases_ = 0;
};

}  // namespace poise::native
