// SPDX-License-Identifier: BSD-3-Clause
// Annotations, which are named values attached to tasks. Setting a name again keeps the first
// value, as in CHAMELEON.
#include "faces/chameleon/guard.h"
#include "faces/chameleon/task.h"

#include "poise/base/error.h"

namespace {

namespace face = poise::chameleon;

template <typename T>
int set(chameleon_annotations_t* annotations, const char* key, T value) {
  return face::guarded(1, [&] {
    if (!annotations || !key)
      poise::fail("the container or the key of an annotation is null; both are required");
    if (!annotations->values.has(key)) annotations->values.set(key, std::move(value));
    return 0;
  });
}

template <typename Stored>
const Stored* find(chameleon_annotations_t* annotations, const char* key) {
  return annotations && key ? annotations->values.get<Stored>(key) : nullptr;
}

template <typename T, typename Stored>
int get(chameleon_annotations_t* annotations, const char* key, T* value) {
  const Stored* stored = find<Stored>(annotations, key);
  if (!stored) return 0;
  *value = static_cast<T>(*stored);
  return 1;
}

constexpr const char* kFortranKey = "num_cells";

}  // namespace

chameleon_annotations_t* chameleon_create_annotation_container(void) {
  return face::guarded<chameleon_annotations_t*>(nullptr,
                                                 [] { return new chameleon_annotations_t; });
}

int chameleon_set_annotation_int(chameleon_annotations_t* ann, const char* key, int value) {
  return set(ann, key, std::int64_t{value});
}
int chameleon_set_annotation_int64(chameleon_annotations_t* ann, const char* key, int64_t value) {
  return set(ann, key, value);
}
int chameleon_set_annotation_double(chameleon_annotations_t* ann, const char* key, double value) {
  return set(ann, key, value);
}
int chameleon_set_annotation_float(chameleon_annotations_t* ann, const char* key, float value) {
  return set(ann, key, double{value});
}
int chameleon_set_annotation_string(chameleon_annotations_t* ann, const char* key,
                                    const char* value) {
  return set(ann, key, std::string(value ? value : ""));
}

int chameleon_get_annotation_int(chameleon_annotations_t* ann, const char* key, int* value) {
  return get<int, std::int64_t>(ann, key, value);
}
int chameleon_get_annotation_int64(chameleon_annotations_t* ann, const char* key, int64_t* value) {
  return get<int64_t, std::int64_t>(ann, key, value);
}
int chameleon_get_annotation_double(chameleon_annotations_t* ann, const char* key, double* value) {
  return get<double, double>(ann, key, value);
}
int chameleon_get_annotation_float(chameleon_annotations_t* ann, const char* key, float* value) {
  return get<float, double>(ann, key, value);
}
int chameleon_get_annotation_string(chameleon_annotations_t* ann, const char* key, char** value) {
  const auto* text = find<std::string>(ann, key);
  if (!text) return 0;
  *value = const_cast<char*>(text->c_str());  // CHAMELEON declares `value` without const
  return 1;
}

void* chameleon_create_annotation_container_fortran(void) {
  return chameleon_create_annotation_container();
}
int chameleon_set_annotation_int_fortran(void* ann, int value) {
  return chameleon_set_annotation_int(static_cast<chameleon_annotations_t*>(ann), kFortranKey,
                                      value);
}
int chameleon_get_annotation_int_fortran(void* ann) {
  int value = -1;
  chameleon_get_annotation_int(static_cast<chameleon_annotations_t*>(ann), kFortranKey, &value);
  return value;
}
