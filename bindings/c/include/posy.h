// Posy for C: Bloom filters and their relatives, the same bits and the same files as in C++ and the tool.
//
//   posy_error why;
//   posy_filter *seen;
//   if (posy_filter_make(1000000, 0.001, &seen, &why)) { puts(why.text); exit(1); }
//   posy_filter_insert_text(seen, "alice", NULL);
//   if (posy_filter_may_contain_text(seen, "bob")) …
//   posy_filter_free(seen);
//
// docs/c.md is the guide. What holds for every function, unless its own comment says otherwise:
//
// Errors. A function that can fail returns a posy_status, 0 for success, and has a posy_error as its last
// argument, which may be NULL. After an error nothing has changed, a handle that was asked for is NULL, and
// other results are untouched. A pointer that must not be NULL is refused with POSY_INVALID. No C++
// exception leaves the library. There is no global state.
//
// Ownership. What a function hands out through a posy_… ** belongs to the caller, who gives it back with the
// free function of its type; bytes and lists are given back with posy_free(). Arguments are only read or
// changed during the call; nothing that the caller owns is kept.
//
// Threads. Calls that take a handle as const may run together, and posy_filter_may_contain…() also with
// posy_filter_insert_concurrently…(). Any other call needs the handle for itself. Different handles are independent.
//
// Keys. A key is its bytes. An integer is its 8 bytes, little-endian, two's complement; so 7, -7 and "seven"
// are the keys that C++, the tool and the databases have. A pointer of no bytes may be NULL.
//
// Growth. A struct with a member struct_size grows in later versions: set that member to sizeof the struct
// and what you do not use to 0, as {.struct_size = sizeof options} does. The library fills as much of a
// result as the caller has room for. Constants keep their numbers, functions their meaning; the shared
// library's symbols have the version in which they came.
//
// Long because a program in C includes one header, and so do the generators of bindings.
#ifndef POSY_H
#define POSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define POSY_API __attribute__((visibility("default")))
#else
#define POSY_API
#endif

// ---- Errors and memory ----------------------------------------------------------------------------------

// What a caller can do about an error.
typedef enum posy_status {
    POSY_OK = 0,
    POSY_INVALID = 1,       // an argument that cannot be: correct the call
    POSY_DAMAGED = 2,       // bytes that are not what they claim to be: get them again
    POSY_TOO_LARGE = 3,     // beyond a limit, or the memory there is: raise the limit or ask for less
    POSY_MISMATCH = 4,      // two things that do not go together: geometries, hashes, a delta and its base
    POSY_UNSUPPORTED = 5,   // a kind, version or operation that this build does not have
    POSY_BUSY = 6,          // another process holds it: try again later
    POSY_INPUT_OUTPUT = 7,  // the system or a file: the text has the reason
    POSY_NO_MEMORY = 8,     // the system has no memory
    POSY_INTERNAL = 9       // an error of Posy's own: please report the text
} posy_status;

// No offset, and a number that is not known.
#define POSY_UNKNOWN UINT64_MAX

// An error, in memory of the caller; it needs not be initialized. Its size never changes.
typedef struct posy_error {
    posy_status status;  // what the function returned
    uint32_t zero;
    uint64_t offset;  // of the wrong byte in the input, or POSY_UNKNOWN
    char text[496];   // what is wrong and what to do, one line of UTF-8 without a full stop; "" on success
} posy_error;

// The version of the shared library, "0.2.0". A constant; any thread.
POSY_API const char *posy_version(void);

// The name of a status, "damaged"; "unknown" for other numbers. A constant; any thread.
POSY_API const char *posy_status_name(posy_status status);

// Gives back bytes or a list that a function handed out; NULL is nothing. (It is not free(): a program and a
// library may have different ones.)
POSY_API void posy_free(void *memory);

// ---- Many keys ------------------------------------------------------------------------------------------

typedef struct posy_bytes {
    const void *data;
    size_t size;
} posy_bytes;

// How an array of keys lies in memory.
enum {
    POSY_KEYS_U64 = 1,        // values: uint64_t[count]
    POSY_KEYS_I64 = 2,        // values: int64_t[count]
    POSY_KEYS_BYTES = 3,      // values: posy_bytes[count]
    POSY_KEYS_TEXTS = 4,      // values: const char *[count], each ended by a NUL, which is not part of the key
    POSY_KEYS_OFFSETS32 = 5,  // as Arrow has text and bytes: key i is values[offsets[i]] to values[offsets[i+1]]
    POSY_KEYS_OFFSETS64 = 6   // the same with offsets of 64 bits (Arrow's large text)
};

// An array of keys of the caller's, as it lies there: nothing is copied. All of it is checked before the
// first key is used. The functions posy_keys_…() below make one. Its size never changes.
typedef struct posy_keys {
    uint32_t form;  // POSY_KEYS_…
    uint32_t zero;
    size_t count;
    const void *values;
    size_t values_size;   // POSY_KEYS_OFFSETS…: the bytes at values
    const void *offsets;  // POSY_KEYS_OFFSETS…: int32_t or int64_t [count + 1]
} posy_keys;

// Keys that are unsigned integers. Refers to the array. Example: posy_keys_u64(ids, 1000).
static inline posy_keys posy_keys_u64(const uint64_t *keys, size_t count) {
    const posy_keys all = {POSY_KEYS_U64, 0, count, keys, 0, NULL};
    return all;
}
// Keys that are signed integers. Refers to the array.
static inline posy_keys posy_keys_i64(const int64_t *keys, size_t count) {
    const posy_keys all = {POSY_KEYS_I64, 0, count, keys, 0, NULL};
    return all;
}
// Keys that are bytes, each with its length. Refers to the array and the bytes.
static inline posy_keys posy_keys_bytes(const posy_bytes *keys, size_t count) {
    const posy_keys all = {POSY_KEYS_BYTES, 0, count, keys, 0, NULL};
    return all;
}
// Keys that are texts of C. Refers to the array and the texts.
static inline posy_keys posy_keys_texts(const char *const *keys, size_t count) {
    const posy_keys all = {POSY_KEYS_TEXTS, 0, count, keys, 0, NULL};
    return all;
}
// Keys one behind the other in data, with count + 1 offsets. Refers to both.
static inline posy_keys posy_keys_offsets32(const int32_t *offsets, const void *data, size_t size, size_t count) {
    const posy_keys all = {POSY_KEYS_OFFSETS32, 0, count, data, size, offsets};
    return all;
}
// The same with offsets of 64 bits.
static inline posy_keys posy_keys_offsets64(const int64_t *offsets, const void *data, size_t size, size_t count) {
    const posy_keys all = {POSY_KEYS_OFFSETS64, 0, count, data, size, offsets};
    return all;
}

// ---- Plans ----------------------------------------------------------------------------------------------

// How a key becomes positions (docs/design.md). 0 lets Posy choose.
enum {
    POSY_LAYOUT_SPREAD = 1,   // the classic filter
    POSY_LAYOUT_SLICED = 2,   // every hash has its own slice
    POSY_LAYOUT_BLOCKED = 3,  // all bits of a key in one cache line
    POSY_LAYOUT_PAIRED = 4,   // in two
    POSY_LAYOUT_NARROW = 5    // in 128 bits, for counting filters
};

// How a key becomes a digest. 0 lets Posy choose: the fastest that is good enough for the rate.
enum {
    POSY_HASH_XXH3 = 1,
    POSY_HASH_SIPHASH = 2,  // for keys chosen by an attacker; the seed is its secret key
    POSY_HASH_MD5 = 3,      // takes no seed; builds without OpenSSL do not have it
    POSY_HASH_MULTIPLY_SHIFT = 4,
    POSY_HASH_FOLD64 = 5
};

// What a plan is to minimise. 0: what the wishes leave open.
enum { POSY_GOAL_RATE = 1, POSY_GOAL_MEMORY = 2, POSY_GOAL_MESSAGE = 3, POSY_GOAL_DELTA = 4 };

// Only items is required. A member that is not 0 is a constraint; the others are chosen.
typedef struct posy_wishes {
    size_t struct_size;
    uint64_t items;
    double rate;                   // at most this false-positive rate; 0.01 with items alone
    double bits_per_item;          // exactly this array
    double message_bits_per_item;  // at most this many, compressed
    uint64_t max_memory;           // bytes of the array
    double delta_bits_per_item;    // at most this many per update; needs delta_fraction
    double delta_fraction;         // updates are sent when this share of the items has changed
    uint32_t hashes;               // exactly this many
    uint32_t max_hashes;
    uint32_t layout;    // POSY_LAYOUT_…
    uint32_t hash;      // POSY_HASH_…
    uint32_t minimize;  // POSY_GOAL_…
    uint32_t zero;
} posy_wishes;

// What to build, and what it will cost.
typedef struct posy_plan {
    size_t struct_size;
    uint64_t items;
    uint64_t bits;
    uint32_t hashes;
    uint32_t layout;
    uint32_t hash;
    uint32_t zero;
    uint64_t memory_bytes;
    double fill;                 // expected share of ones
    double false_positive_rate;  // expected
    double message_bits;         // expected, of the smallest message
    double delta_bits;           // expected, of one update; 0 without a delta_fraction
} posy_plan;

// The best plan for the wishes, as posy plan makes it. Set plan->struct_size first. Errors: POSY_INVALID names
// the wish that cannot be fulfilled. Example: posy_wishes w = {.struct_size = sizeof w, .items = 1000000,
// .rate = 0.001}; then give bits, hashes, layout, hash and items of the plan to posy_filter_make_with().
POSY_API posy_status posy_plan_choose(const posy_wishes *wishes, posy_plan *plan, posy_error *error);

// ---- Filters --------------------------------------------------------------------------------------------

// A Bloom filter: it never says no to a key that was inserted.
typedef struct posy_filter posy_filter;

// Either items and rate, and Posy plans as posy_filter_make() does with the layout, hashes and hash that are
// given; or bits and hashes, exactly this array (layout blocked unless given); items is then what it is
// planned for, if known.
typedef struct posy_filter_options {
    size_t struct_size;
    uint64_t items;
    double rate;
    uint64_t bits;
    uint32_t hashes;
    uint32_t layout;     // POSY_LAYOUT_…
    uint32_t hash;       // POSY_HASH_…
    uint32_t zero;
    uint64_t seed_low;   // of the hash; needs one to be named
    uint64_t seed_high;
} posy_filter_options;

// What a filter is, and how it stands.
typedef struct posy_filter_info {
    size_t struct_size;
    uint64_t bits;
    uint32_t hashes;
    uint32_t layout;
    uint32_t hash;
    uint32_t checksum;  // of the bits: equal filters have equal ones
    uint64_t seed_low;
    uint64_t seed_high;
    uint64_t items;  // insertions, repeated keys counted again; POSY_UNKNOWN of an intersection
    uint64_t ones;
    double fill;                 // share of ones
    double false_positive_rate;  // of the bits as they are
    uint64_t planned_items;      // 0 if it was not planned
    double planned_rate;
    uint64_t memory_bytes;
} posy_filter_info;

// A number and an interval that holds the truth with the probability that was asked for.
typedef struct posy_estimate {
    double value;
    double low;
    double high;
} posy_estimate;

// Two sets, estimated from their filters.
typedef struct posy_comparison {
    size_t struct_size;
    posy_estimate a;
    posy_estimate b;
    posy_estimate intersection;
    posy_estimate united;
    posy_estimate jaccard;
} posy_comparison;

// How the bits are written: as they lie in memory, which is queried in place; the fewest bytes (what posy pack
// does); or nearly as few at several times the speed.
enum { POSY_RAW = 0, POSY_SMALLEST = 1, POSY_FASTEST = 2 };

// An empty filter with room for this many different keys at this false-positive rate. Errors: POSY_INVALID for
// impossible numbers, POSY_TOO_LARGE. Free with posy_filter_free(). Example: posy_filter_make(1000, 0.01, &f, &e).
POSY_API posy_status posy_filter_make(uint64_t items, double rate, posy_filter **filter, posy_error *error);

// The same, with a say in everything. Errors: as above; POSY_UNSUPPORTED for members that this version does not
// know. Example: posy_filter_options o = {.struct_size = sizeof o, .items = 1000, .rate = 0.01, .hash =
// POSY_HASH_SIPHASH, .seed_low = secret[0], .seed_high = secret[1]}.
POSY_API posy_status posy_filter_make_with(const posy_filter_options *options, posy_filter **filter, posy_error *error);

// A copy. Errors: POSY_TOO_LARGE without memory. Free with posy_filter_free().
POSY_API posy_status posy_filter_clone(const posy_filter *filter, posy_filter **copy, posy_error *error);

// Gives a filter back; NULL is nothing.
POSY_API void posy_filter_free(posy_filter *filter);

// Inserts a key of size bytes. Errors: only POSY_INVALID for NULL.
POSY_API posy_status posy_filter_insert(posy_filter *filter, const void *key, size_t size, posy_error *error);
// Inserts an integer.
POSY_API posy_status posy_filter_insert_u64(posy_filter *filter, uint64_t key, posy_error *error);
// Inserts many keys, several times as fast; with threads > 1 on so many threads (at most 1024). Errors:
// POSY_INVALID if one of the keys cannot be; then none was inserted. POSY_NO_MEMORY and POSY_INTERNAL, if threads
// cannot be started, may leave some keys inserted; insert all again.
POSY_API posy_status posy_filter_insert_many(posy_filter *filter, const posy_keys *keys, unsigned threads,
                                             posy_error *error);

// As posy_filter_insert(), from many threads at once, together with posy_filter_may_contain…(). Nothing else may
// use the filter meanwhile.
POSY_API posy_status posy_filter_insert_concurrently(posy_filter *filter, const void *key, size_t size,
                                                     posy_error *error);
// As posy_filter_insert_u64(), from many threads at once.
POSY_API posy_status posy_filter_insert_concurrently_u64(posy_filter *filter, uint64_t key, posy_error *error);
// As posy_filter_insert_many() on the calling thread, from many threads at once.
POSY_API posy_status posy_filter_insert_concurrently_many(posy_filter *filter, const posy_keys *keys, posy_error *error);

// May the filter contain the key? 0: certainly not. 1: perhaps. -1: an argument is NULL, which as a truth value
// is a perhaps as well.
POSY_API int posy_filter_may_contain(const posy_filter *filter, const void *key, size_t size);
// The same for an integer.
POSY_API int posy_filter_may_contain_u64(const posy_filter *filter, uint64_t key);
// The same for many keys: answers has room for one per key, and *yes, unless yes is NULL, becomes the number of
// those that are true. threads as in posy_filter_insert_many(). Errors: POSY_INVALID; POSY_NO_MEMORY.
POSY_API posy_status posy_filter_may_contain_many(const posy_filter *filter, const posy_keys *keys, unsigned threads,
                                                  bool *answers, size_t *yes, posy_error *error);

// Removes all keys; size and hashes stay. Errors: only POSY_INVALID for NULL.
POSY_API posy_status posy_filter_clear(posy_filter *filter, posy_error *error);

// Do both have the same size, layout, hashes and seed, so that they can be united? 1, 0, or -1 for NULL.
POSY_API int posy_filter_same_geometry(const posy_filter *a, const posy_filter *b);
// The same geometry and the same bits? 1, 0, or -1 for NULL.
POSY_API int posy_filter_equal(const posy_filter *a, const posy_filter *b);

// into becomes the filter of both sets, bit for bit. Errors: POSY_MISMATCH says what differs.
POSY_API posy_status posy_filter_unite(posy_filter *into, const posy_filter *from, posy_error *error);
// into becomes the common bits: a filter that contains the common keys, and others at no higher rate than before.
// Errors: POSY_MISMATCH says what differs.
POSY_API posy_status posy_filter_intersect(posy_filter *into, const posy_filter *from, posy_error *error);
// The same set in bits / divisor bits. Errors: POSY_INVALID if the divisor does not divide the array. Free with
// posy_filter_free(). Example: posy_filter_fold(f, 2, &half, &e).
POSY_API posy_status posy_filter_fold(const posy_filter *filter, uint64_t divisor, posy_filter **folded,
                                      posy_error *error);

// The number of different keys, estimated from the bits; level is the interval's probability, e.g. 0.95. Errors:
// POSY_INVALID unless 0 < level < 1.
POSY_API posy_status posy_filter_estimate_items(const posy_filter *filter, double level, posy_estimate *items,
                                                posy_error *error);
// Sizes and overlap of two sets. Set result->struct_size first. Errors: POSY_MISMATCH unless both have the same
// geometry; POSY_INVALID for a level as above.
POSY_API posy_status posy_filter_compare(const posy_filter *a, const posy_filter *b, double level,
                                         posy_comparison *result, posy_error *error);
// The probability that an absent key is answered with yes, from the bits as they are; -1 for NULL. Reads all bits.
POSY_API double posy_filter_false_positive_rate(const posy_filter *filter);
// Everything about the filter. Set info->struct_size first. Reads all bits.
POSY_API posy_status posy_filter_info_of(const posy_filter *filter, posy_filter_info *info, posy_error *error);

// The filter as a message (docs/format.md), in memory to be given back with posy_free(). coding is POSY_RAW,
// POSY_SMALLEST or POSY_FASTEST. Errors: POSY_INVALID for another coding; POSY_NO_MEMORY.
POSY_API posy_status posy_filter_to_bytes(const posy_filter *filter, int coding, void **bytes, size_t *size,
                                          posy_error *error);
// The filter of one message. max_memory limits the bytes that it may take; 0: Posy's own limits, which fit its size.
// Errors: POSY_DAMAGED with an offset, POSY_TOO_LARGE, POSY_MISMATCH for a message of another kind. The bytes are not
// needed afterwards. Free with posy_filter_free().
POSY_API posy_status posy_filter_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_filter **filter,
                                            posy_error *error);
// Writes a file, which other processes see complete or not at all. Errors: POSY_INPUT_OUTPUT; POSY_INVALID for the coding.
POSY_API posy_status posy_filter_save(const posy_filter *filter, const char *path, int coding, posy_error *error);
// Reads a file of posy_filter_save(), of C++ or of the tool. A raw one is mapped: opening reads it once, for its checksum,
// and its pages are shared until they are changed; changes stay in memory. Errors: as posy_filter_from_bytes(), and
// POSY_INPUT_OUTPUT. Free with posy_filter_free().
POSY_API posy_status posy_filter_load(const char *path, uint64_t max_memory, posy_filter **filter, posy_error *error);

// ---- Deltas ---------------------------------------------------------------------------------------------

// What changed between two generations of a filter. The functions for bytes and files are those of a filter.
typedef struct posy_delta posy_delta;

// What turns one filter into another. Errors: POSY_MISMATCH unless both have the same geometry. Free with
// posy_delta_free().
POSY_API posy_status posy_delta_make(const posy_filter *from, const posy_filter *to, posy_delta **delta, posy_error *error);
// Gives a delta back; NULL is nothing.
POSY_API void posy_delta_free(posy_delta *delta);
// The filter becomes the newer one. Errors: POSY_MISMATCH, with nothing changed, if it is not the one that the delta was
// made from.
POSY_API posy_status posy_delta_apply(posy_filter *filter, const posy_delta *delta, posy_error *error);
// As posy_filter_to_bytes(). Take POSY_SMALLEST: few bits change.
POSY_API posy_status posy_delta_to_bytes(const posy_delta *delta, int coding, void **bytes, size_t *size, posy_error *error);
// As posy_filter_from_bytes(). Free with posy_delta_free().
POSY_API posy_status posy_delta_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_delta **delta,
                                           posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_delta_save(const posy_delta *delta, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_delta_free().
POSY_API posy_status posy_delta_load(const char *path, uint64_t max_memory, posy_delta **delta, posy_error *error);

// ---- Counting filters -----------------------------------------------------------------------------------

// A filter from which keys can be removed. Remove only what was inserted: a key that was not, but looks as if it were,
// takes others with it.
typedef struct posy_counting posy_counting;

// Room for this many different keys at any one time, at this rate. Errors: as posy_filter_make(). Free with
// posy_counting_free().
POSY_API posy_status posy_counting_make(uint64_t items, double rate, posy_counting **counting, posy_error *error);
// The same with the options of posy_filter_make_with(), and counters of counter_bits bits: 4, 8, or 0 for Posy's choice
// (4 with options->bits). Errors: as posy_filter_make_with(). Free with posy_counting_free().
POSY_API posy_status posy_counting_make_with(const posy_filter_options *options, unsigned counter_bits,
                                             posy_counting **counting, posy_error *error);
// Gives a counting filter back; NULL is nothing.
POSY_API void posy_counting_free(posy_counting *counting);
// Inserts a key of size bytes. Errors: only POSY_INVALID for NULL.
POSY_API posy_status posy_counting_insert(posy_counting *counting, const void *key, size_t size, posy_error *error);
// Inserts an integer.
POSY_API posy_status posy_counting_insert_u64(posy_counting *counting, uint64_t key, posy_error *error);
// Inserts many keys. Errors: POSY_INVALID if one of the keys cannot be; then none was inserted.
POSY_API posy_status posy_counting_insert_many(posy_counting *counting, const posy_keys *keys, posy_error *error);
// Removes a key. 1: removed. 0: it is certainly absent, and nothing has changed. -1: an argument is NULL.
POSY_API int posy_counting_remove(posy_counting *counting, const void *key, size_t size);
// The same for an integer.
POSY_API int posy_counting_remove_u64(posy_counting *counting, uint64_t key);
// The same for many keys: removed has room for one answer per key, or is NULL; *count, unless count is NULL, becomes the
// number of those that were removed. Errors: POSY_INVALID if one of the keys cannot be; then none was removed.
POSY_API posy_status posy_counting_remove_many(posy_counting *counting, const posy_keys *keys, bool *removed, size_t *count,
                                               posy_error *error);
// As posy_filter_may_contain().
POSY_API int posy_counting_may_contain(const posy_counting *counting, const void *key, size_t size);
// As posy_filter_may_contain_u64().
POSY_API int posy_counting_may_contain_u64(const posy_counting *counting, uint64_t key);
// As posy_filter_may_contain_many(), on the calling thread.
POSY_API posy_status posy_counting_may_contain_many(const posy_counting *counting, const posy_keys *keys, bool *answers,
                                                    size_t *yes, posy_error *error);
// Removes all keys. Errors: only POSY_INVALID for NULL.
POSY_API posy_status posy_counting_clear(posy_counting *counting, posy_error *error);
// The plain filter of the keys that are present, to be sent. Errors: POSY_TOO_LARGE without memory. Free with
// posy_filter_free().
POSY_API posy_status posy_counting_filter(const posy_counting *counting, posy_filter **filter, posy_error *error);
// As posy_filter_info_of(), of the plain filter; *counter_bits and *saturated, unless NULL, become the width of a counter
// and how many of them are stuck at their largest value.
POSY_API posy_status posy_counting_info_of(const posy_counting *counting, posy_filter_info *info, unsigned *counter_bits,
                                           uint64_t *saturated, posy_error *error);
// As posy_filter_to_bytes().
POSY_API posy_status posy_counting_to_bytes(const posy_counting *counting, int coding, void **bytes, size_t *size,
                                            posy_error *error);
// As posy_filter_from_bytes(). Free with posy_counting_free().
POSY_API posy_status posy_counting_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_counting **counting,
                                              posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_counting_save(const posy_counting *counting, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_counting_free().
POSY_API posy_status posy_counting_load(const char *path, uint64_t max_memory, posy_counting **counting, posy_error *error);

// ---- Growing filters ------------------------------------------------------------------------------------

// A filter that keeps a promised rate for any number of keys: it adds arrays as they come.
typedef struct posy_growing posy_growing;

// What a growing filter promises, and its hash.
typedef struct posy_growing_options {
    size_t struct_size;
    double rate;    // of false positives, which it stays below
    uint32_t hash;  // POSY_HASH_…
    uint32_t zero;
    uint64_t seed_low;  // of the hash; needs one to be named
    uint64_t seed_high;
} posy_growing_options;

// How a growing filter stands.
typedef struct posy_growing_info {
    size_t struct_size;
    uint64_t bits;               // of all its arrays
    uint64_t items;              // insertions, repeated keys counted again
    double false_positive_rate;  // of the bits as they are
    double promised_rate;
    uint32_t shrunk;  // 1: posy_growing_shrink() was called
    uint32_t zero;
} posy_growing_info;

// An empty filter. Errors:
// POSY_INVALID if the rate cannot be promised, POSY_NO_MEMORY. Free with posy_growing_free().
POSY_API posy_status posy_growing_make(const posy_growing_options *options, posy_growing **growing, posy_error *error);
// Gives a growing filter back; NULL is nothing.
POSY_API void posy_growing_free(posy_growing *growing);
// Inserts a key of size bytes. Errors: POSY_TOO_LARGE without memory for another array: the key is inserted nevertheless, but
// the rate will exceed the promise; POSY_INVALID after shrinking.
POSY_API posy_status posy_growing_insert(posy_growing *growing, const void *key, size_t size, posy_error *error);
// Inserts an integer. Errors: as posy_growing_insert().
POSY_API posy_status posy_growing_insert_u64(posy_growing *growing, uint64_t key, posy_error *error);
// Inserts many keys. Errors: as posy_growing_insert(): after POSY_TOO_LARGE all are inserted; POSY_INVALID also if one of the
// keys cannot be, and then none is.
POSY_API posy_status posy_growing_insert_many(posy_growing *growing, const posy_keys *keys, posy_error *error);
// As posy_filter_may_contain().
POSY_API int posy_growing_may_contain(const posy_growing *growing, const void *key, size_t size);
// As posy_filter_may_contain_u64().
POSY_API int posy_growing_may_contain_u64(const posy_growing *growing, uint64_t key);
// As posy_filter_may_contain_many(), on the calling thread.
POSY_API posy_status posy_growing_may_contain_many(const posy_growing *growing, const posy_keys *keys, bool *answers,
                                                   size_t *yes, posy_error *error);
// Folds the filter as far as its promise allows. From then on no keys can be inserted. Errors: POSY_TOO_LARGE without
// memory, POSY_INVALID if its rate exceeds the promise already.
POSY_API posy_status posy_growing_shrink(posy_growing *growing, posy_error *error);
// into becomes the filter of both sets. Errors: POSY_MISMATCH says what differs; POSY_INVALID if either is shrunk or the union
// would exceed the promise; POSY_TOO_LARGE without memory.
POSY_API posy_status posy_growing_unite(posy_growing *into, const posy_growing *from, posy_error *error);
// How many different keys there are, with an interval of this level (0.95). Errors: only POSY_INVALID.
POSY_API posy_status posy_growing_estimate_items(const posy_growing *growing, double level, posy_estimate *items,
                                                 posy_error *error);
// How the filter stands; set info->struct_size first. Errors: only POSY_INVALID.
POSY_API posy_status posy_growing_info_of(const posy_growing *growing, posy_growing_info *info, posy_error *error);
// As posy_filter_to_bytes().
POSY_API posy_status posy_growing_to_bytes(const posy_growing *growing, int coding, void **bytes, size_t *size,
                                           posy_error *error);
// As posy_filter_from_bytes(). Free with posy_growing_free().
POSY_API posy_status posy_growing_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_growing **growing,
                                             posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_growing_save(const posy_growing *growing, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_growing_free().
POSY_API posy_status posy_growing_load(const char *path, uint64_t max_memory, posy_growing **growing, posy_error *error);

// ---- Window filters -------------------------------------------------------------------------------------

// Keys seen lately. Time is handed in, in any unit, from any beginning. It is divided into slots of window / generations,
// rounded up: take a unit in which that is exact. Each key is remembered for at least as many slots as there are generations,
// and for less than one more; posy_window_info has both times. Questions are answered as of the latest insertion or the time
// of the question, whichever is later. So a key inserted with a time far ahead makes the filter forget all others.
typedef struct posy_window posy_window;

// What a window filter is for.
typedef struct posy_window_options {
    size_t struct_size;
    uint64_t items;        // the largest number of keys within a window
    double rate;           // of false positives, up to that number
    uint64_t window;       // in units of the caller's clock
    uint32_t generations;  // 1 to 254; 0: 8
    uint32_t hash;         // POSY_HASH_…
    uint64_t seed_low;     // of the hash; needs one to be named
    uint64_t seed_high;
} posy_window_options;

// How a window filter stands at a time.
typedef struct posy_window_info {
    size_t struct_size;
    uint64_t items;              // keys that are remembered; one that came in several slots is counted in each
    double false_positive_rate;  // of the bits as they are
    uint64_t memory_bytes;
    uint64_t remembered_at_least;  // after it came, a key is remembered for this long
    uint64_t forgotten_after;      // and for less than this
    uint64_t planned_items;
    double planned_rate;
    uint64_t latest;  // time of the latest insertion
} posy_window_info;

// An empty filter. Errors: POSY_INVALID if it cannot be. Free with posy_window_free().
POSY_API posy_status posy_window_make(const posy_window_options *options, posy_window **window, posy_error *error);
// Gives a window filter back; NULL is nothing.
POSY_API void posy_window_free(posy_window *window);
// Inserts a key at this time. 1: inserted. 0: that is longer ago than a window before the latest insertion, and nothing has
// changed. -1: an argument is NULL, or there is no memory, and the key is not inserted. Compare with 1: -1 is not zero.
POSY_API int posy_window_insert(posy_window *window, const void *key, size_t size, uint64_t time);
// The same for an integer.
POSY_API int posy_window_insert_u64(posy_window *window, uint64_t key, uint64_t time);
// The same for many keys at one time: *inserted, unless NULL, becomes whether they were. Errors: POSY_INVALID if one of the keys
// cannot be; then none was inserted.
POSY_API posy_status posy_window_insert_many(posy_window *window, const posy_keys *keys, uint64_t time, bool *inserted,
                                             posy_error *error);
// Was the key inserted within the window before this time (or before the latest insertion, if that is later)? 1, 0, or -1 for
// NULL.
POSY_API int posy_window_may_contain(const posy_window *window, const void *key, size_t size, uint64_t time);
// The same for an integer.
POSY_API int posy_window_may_contain_u64(const posy_window *window, uint64_t key, uint64_t time);
// The same for many keys, as posy_filter_may_contain_many(), on the calling thread.
POSY_API posy_status posy_window_may_contain_many(const posy_window *window, const posy_keys *keys, uint64_t time, bool *answers,
                                                  size_t *yes, posy_error *error);
// into becomes what either has seen; both must use one clock. Errors: POSY_MISMATCH says what differs; POSY_TOO_LARGE without
// memory.
POSY_API posy_status posy_window_unite(posy_window *into, const posy_window *from, posy_error *error);
// How the filter stands at this time; set info->struct_size first. Errors: only POSY_INVALID.
POSY_API posy_status posy_window_info_of(const posy_window *window, uint64_t time, posy_window_info *info, posy_error *error);
// As posy_filter_to_bytes().
POSY_API posy_status posy_window_to_bytes(const posy_window *window, int coding, void **bytes, size_t *size, posy_error *error);
// As posy_filter_from_bytes(). Free with posy_window_free().
POSY_API posy_status posy_window_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_window **window,
                                            posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_window_save(const posy_window *window, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_window_free().
POSY_API posy_status posy_window_load(const char *path, uint64_t max_memory, posy_window **window, posy_error *error);

// ---- Sealed filters -------------------------------------------------------------------------------------

// A set that does not change, in about two thirds of the memory of a Bloom filter.
typedef struct posy_sealed posy_sealed;

// How to seal a set, or the keys of a map.
typedef struct posy_seal_options {
    size_t struct_size;
    double rate;        // of false positives, from 2^-32 to below 1 (a map: to 1, all absent keys have a value)
    uint32_t hash;      // POSY_HASH_…
    uint32_t threads;   // to build with; 0 and 1: one
    uint64_t seed_low;  // of the hash; needs one to be named
    uint64_t seed_high;
} posy_seal_options;

// What a sealed filter or a map is.
typedef struct posy_seal_info {
    size_t struct_size;
    uint64_t items;  // different keys
    double false_positive_rate;
    uint64_t bytes;  // of the whole, in memory and in a file
    uint32_t hash;
    uint32_t value_bits;  // 0 of a sealed filter
    uint64_t seed_low;
    uint64_t seed_high;
} posy_seal_info;

// The set of these keys; repeated ones count once. Takes 16 bytes per key meanwhile. Errors: POSY_INVALID for a rate
// or keys that cannot be, POSY_TOO_LARGE or POSY_NO_MEMORY. Free with posy_sealed_free(). Example: posy_keys k =
// posy_keys_texts(words, 3); posy_sealed_make(&k, 0.001, &s, &e).
POSY_API posy_status posy_sealed_make(const posy_keys *keys, double rate, posy_sealed **sealed, posy_error *error);
// The same with options. Errors: as above; POSY_UNSUPPORTED for members that this version does not know.
POSY_API posy_status posy_sealed_make_with(const posy_keys *keys, const posy_seal_options *options, posy_sealed **sealed,
                                           posy_error *error);
// Gives a sealed filter back; NULL is nothing.
POSY_API void posy_sealed_free(posy_sealed *sealed);
// As posy_filter_may_contain().
POSY_API int posy_sealed_may_contain(const posy_sealed *sealed, const void *key, size_t size);
// As posy_filter_may_contain_u64().
POSY_API int posy_sealed_may_contain_u64(const posy_sealed *sealed, uint64_t key);
// As posy_filter_may_contain_many(), on the calling thread.
POSY_API posy_status posy_sealed_may_contain_many(const posy_sealed *sealed, const posy_keys *keys, bool *answers,
                                                  size_t *yes, posy_error *error);
// Everything about it. Set info->struct_size first.
POSY_API posy_status posy_sealed_info_of(const posy_sealed *sealed, posy_seal_info *info, posy_error *error);
// As posy_filter_to_bytes(); all codings are the same, there is nothing left to compress.
POSY_API posy_status posy_sealed_to_bytes(const posy_sealed *sealed, int coding, void **bytes, size_t *size,
                                          posy_error *error);
// As posy_filter_from_bytes(). Free with posy_sealed_free().
POSY_API posy_status posy_sealed_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_sealed **sealed,
                                            posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_sealed_save(const posy_sealed *sealed, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_sealed_free().
POSY_API posy_status posy_sealed_load(const char *path, uint64_t max_memory, posy_sealed **sealed, posy_error *error);

// ---- Maps -----------------------------------------------------------------------------------------------

// A value for each key, without the keys (a Bloomier map); it does not change.
typedef struct posy_map posy_map;

// The map from each key to the value at its place. A pair may be repeated. Values take as many bits as the largest needs.
// Errors: POSY_INVALID for a key with two values; otherwise as posy_sealed_make(). Free with posy_map_free().
POSY_API posy_status posy_map_make(const posy_keys *keys, const uint64_t *values, double rate, posy_map **map,
                                   posy_error *error);
// The same with options. Errors: as above; POSY_UNSUPPORTED for members that this version does not know.
POSY_API posy_status posy_map_make_with(const posy_keys *keys, const uint64_t *values, const posy_seal_options *options,
                                        posy_map **map, posy_error *error);
// Gives a map back; NULL is nothing.
POSY_API void posy_map_free(posy_map *map);
// The value of a key. 1: *value is it, or, for the share of absent keys that the rate states, anything. 0: the key is
// absent. -1: an argument is NULL.
POSY_API int posy_map_find(const posy_map *map, const void *key, size_t size, uint64_t *value);
// The same for an integer.
POSY_API int posy_map_find_u64(const posy_map *map, uint64_t key, uint64_t *value);
// The same for many keys: found and values have room for one answer per key (the value of an absent key becomes 0); *yes,
// unless yes is NULL, becomes the number of those found. Errors: POSY_INVALID; POSY_NO_MEMORY.
POSY_API posy_status posy_map_find_many(const posy_map *map, const posy_keys *keys, bool *found, uint64_t *values,
                                        size_t *yes, posy_error *error);
// Everything about it. Set info->struct_size first.
POSY_API posy_status posy_map_info_of(const posy_map *map, posy_seal_info *info, posy_error *error);
// As posy_sealed_to_bytes().
POSY_API posy_status posy_map_to_bytes(const posy_map *map, int coding, void **bytes, size_t *size, posy_error *error);
// As posy_filter_from_bytes(). Free with posy_map_free().
POSY_API posy_status posy_map_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_map **map,
                                         posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_map_save(const posy_map *map, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_map_free().
POSY_API posy_status posy_map_load(const char *path, uint64_t max_memory, posy_map **map, posy_error *error);

// ---- Counts: Count-Min ----------------------------------------------------------------------------------

// How often keys were seen, in a table whose size does not depend on their number.
typedef struct posy_counts posy_counts;

// What a counter does. Conservative ones err several times less; tables of the plain rule depend on nothing but the keys,
// so that a union is bit for bit the table of both streams.
enum { POSY_RULE_PLAIN = 1, POSY_RULE_CONSERVATIVE = 2 };

// One of: epsilon and delta, the guarantee; width and depth, the table; bytes, its memory, and perhaps depth.
typedef struct posy_counts_options {
    size_t struct_size;
    double epsilon;  // estimates are at most epsilon · total too high …
    double delta;    // … but for this share of the keys
    uint64_t width;
    uint64_t bytes;
    uint32_t depth;
    uint32_t rule;          // POSY_RULE_…; 0: conservative
    uint32_t counter_bits;  // 32 or 64; 0: 64
    uint32_t hash;          // POSY_HASH_…
    uint64_t seed_low;      // of the hash; needs one to be named
    uint64_t seed_high;
} posy_counts_options;

// What a table is, and how it stands.
typedef struct posy_counts_info {
    size_t struct_size;
    uint64_t width;
    uint32_t depth;
    uint32_t rule;
    uint32_t counter_bits;
    uint32_t hash;
    uint64_t seed_low;
    uint64_t seed_high;
    uint64_t total;  // the sum of all weights
    double epsilon;
    double delta;
    double error_bound;  // epsilon · total
    uint64_t memory_bytes;
} posy_counts_info;

// Estimates are at most epsilon · total too high, but for a share delta of the keys. Errors: POSY_INVALID for impossible
// numbers, POSY_TOO_LARGE. Free with posy_counts_free(). Example: posy_counts_make(0.0001, 0.01, &c, &e).
POSY_API posy_status posy_counts_make(double epsilon, double delta, posy_counts **counts, posy_error *error);
// The same, with a say in everything. Errors: as above; POSY_UNSUPPORTED for members that this version does not know.
POSY_API posy_status posy_counts_make_with(const posy_counts_options *options, posy_counts **counts, posy_error *error);
// A copy. Errors: POSY_TOO_LARGE without memory. Free with posy_counts_free().
POSY_API posy_status posy_counts_clone(const posy_counts *counts, posy_counts **copy, posy_error *error);
// Gives a table back; NULL is nothing.
POSY_API void posy_counts_free(posy_counts *counts);
// Counts a key of size bytes; *estimate, unless estimate is NULL, becomes its new estimate. Errors: only POSY_INVALID.
POSY_API posy_status posy_counts_add(posy_counts *counts, const void *key, size_t size, uint64_t weight, uint64_t *estimate,
                                     posy_error *error);
// The same for an integer.
POSY_API posy_status posy_counts_add_u64(posy_counts *counts, uint64_t key, uint64_t weight, uint64_t *estimate,
                                         posy_error *error);
// Counts many keys, each once. Errors: POSY_INVALID if one of the keys cannot be; then none was counted.
POSY_API posy_status posy_counts_add_many(posy_counts *counts, const posy_keys *keys, posy_error *error);
// *estimate becomes at least the sum of the weights that the key was added with. Errors: only POSY_INVALID for NULL.
POSY_API posy_status posy_counts_estimate(const posy_counts *counts, const void *key, size_t size, uint64_t *estimate,
                                          posy_error *error);
// The same for an integer.
POSY_API posy_status posy_counts_estimate_u64(const posy_counts *counts, uint64_t key, uint64_t *estimate,
                                              posy_error *error);
// The same for many keys: estimates has room for one per key. Errors: POSY_INVALID.
POSY_API posy_status posy_counts_estimate_many(const posy_counts *counts, const posy_keys *keys, uint64_t *estimates,
                                               posy_error *error);
// into becomes the table of both streams. Errors: POSY_MISMATCH for another shape, rule or hash.
POSY_API posy_status posy_counts_unite(posy_counts *into, const posy_counts *from, posy_error *error);
// Forgets all keys. Errors: only POSY_INVALID for NULL.
POSY_API posy_status posy_counts_clear(posy_counts *counts, posy_error *error);
// Everything about it. Set info->struct_size first.
POSY_API posy_status posy_counts_info_of(const posy_counts *counts, posy_counts_info *info, posy_error *error);
// As posy_filter_to_bytes().
POSY_API posy_status posy_counts_to_bytes(const posy_counts *counts, int coding, void **bytes, size_t *size,
                                          posy_error *error);
// As posy_filter_from_bytes(). Free with posy_counts_free().
POSY_API posy_status posy_counts_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_counts **counts,
                                            posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_counts_save(const posy_counts *counts, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_counts_free().
POSY_API posy_status posy_counts_load(const char *path, uint64_t max_memory, posy_counts **counts, posy_error *error);

// ---- Heavy hitters --------------------------------------------------------------------------------------

// The most frequent keys, with their bytes.
typedef struct posy_hitters posy_hitters;

// A key of a list.
typedef struct posy_hitter {
    const void *key;
    size_t size;
    uint64_t count;  // at least its frequency
} posy_hitter;

// All keys with a share of at least phi of the total, on an empty table with epsilon < phi, which is copied. Errors:
// POSY_INVALID for another phi or a table that is not empty. Free with posy_hitters_free().
POSY_API posy_status posy_hitters_above(const posy_counts *empty, double phi, posy_hitters **hitters, posy_error *error);
// As many of the most frequent keys as there is room for. Errors: POSY_INVALID for no room or a table that is not empty.
// Free with posy_hitters_free(). Example: posy_hitters_top(counts, 400, &h, &e), to list 100.
POSY_API posy_status posy_hitters_top(const posy_counts *empty, uint64_t room, posy_hitters **hitters, posy_error *error);
// Gives hitters back; NULL is nothing.
POSY_API void posy_hitters_free(posy_hitters *hitters);
// Counts a key of size bytes. Errors: POSY_INVALID for NULL; POSY_NO_MEMORY: it is counted, but may be missing in the list.
POSY_API posy_status posy_hitters_add(posy_hitters *hitters, const void *key, size_t size, uint64_t weight,
                                      posy_error *error);
// Counts many keys, each once; an integer is listed as its 8 bytes. Errors: POSY_INVALID if one of the keys cannot be;
// then none was counted. POSY_NO_MEMORY: some are.
POSY_API posy_status posy_hitters_add_many(posy_hitters *hitters, const posy_keys *keys, posy_error *error);
// into becomes the list of both streams. Errors: POSY_MISMATCH for another threshold or table.
POSY_API posy_status posy_hitters_unite(posy_hitters *into, const posy_hitters *from, posy_error *error);
// The heavy keys, most frequent first, at most `most` of them (0: all): *list becomes an array of *count keys, to be given
// back as a whole with posy_free(). Every key that came at least *complete_from times is in the list (complete_from may be
// NULL). Errors: POSY_INVALID for NULL; POSY_NO_MEMORY.
POSY_API posy_status posy_hitters_list(const posy_hitters *hitters, uint64_t most, posy_hitter **list, size_t *count,
                                       uint64_t *complete_from, posy_error *error);
// As posy_filter_to_bytes().
POSY_API posy_status posy_hitters_to_bytes(const posy_hitters *hitters, int coding, void **bytes, size_t *size,
                                           posy_error *error);
// As posy_filter_from_bytes(). Free with posy_hitters_free().
POSY_API posy_status posy_hitters_from_bytes(const void *bytes, size_t size, uint64_t max_memory, posy_hitters **hitters,
                                             posy_error *error);
// As posy_filter_save().
POSY_API posy_status posy_hitters_save(const posy_hitters *hitters, const char *path, int coding, posy_error *error);
// As posy_filter_load(). Free with posy_hitters_free().
POSY_API posy_status posy_hitters_load(const char *path, uint64_t max_memory, posy_hitters **hitters, posy_error *error);

// ---- Filters of other programs --------------------------------------------------------------------------

// A filter as another program has it, bit for bit (docs/dialects.md).
typedef struct posy_foreign posy_foreign;

// The dialects. 0 where one can be told by the bytes.
enum {
    POSY_SPARK_V1 = 1,
    POSY_SPARK_V2 = 2,
    POSY_GUAVA_32 = 3,
    POSY_GUAVA_64 = 4,
    POSY_HADOOP = 5,
    POSY_HADOOP_COUNTING = 6,
    POSY_HADOOP_DYNAMIC = 7,
    POSY_HADOOP_RETOUCHED = 8,
    POSY_PARQUET = 9,
    POSY_SQUID = 10,
    POSY_DCSO = 11,
    POSY_REDIS = 12,
    POSY_BIP158 = 13,
    POSY_LEVELDB = 14,
    POSY_ROCKSDB = 15,
    POSY_CASSANDRA = 16
};

// What a dialect leaves open; all 0 if nothing.
typedef struct posy_dialect_options {
    size_t struct_size;
    uint32_t seed;     // of Spark's second version
    uint32_t jenkins;  // 1: Hadoop's older hash in place of Murmur
    uint32_t has_key;  // 1: key_low and key_high are the key of a Golomb-coded set (BIP 158)
    uint32_t zero;
    uint64_t key_low;
    uint64_t key_high;
} posy_dialect_options;

// What is known of such a filter.
typedef struct posy_foreign_info {
    size_t struct_size;
    uint32_t dialect;
    uint32_t hashes;
    uint64_t bits;
    uint64_t ones;
    uint64_t items;  // POSY_UNKNOWN if the format does not count them
    double false_positive_rate;
} posy_foreign_info;

// The name of a dialect, "spark-v1", as the tool has it; NULL for other numbers. A constant; any thread.
POSY_API const char *posy_dialect_name(int dialect);
// The dialect of a name; 0 if there is none, or for NULL. Any thread.
POSY_API int posy_dialect_named(const char *name);

// An empty filter for this many items at this rate, sized as the dialect's own program does it. options may be NULL.
// Errors: POSY_INVALID for impossible numbers and for options that the dialect does not have. Free with
// posy_foreign_free(). Example: posy_foreign_make(POSY_GUAVA_64, 1000, 0.01, NULL, &g, &e).
POSY_API posy_status posy_foreign_make(int dialect, uint64_t items, double rate, const posy_dialect_options *options,
                                       posy_foreign **foreign, posy_error *error);
// The filter of these bytes; dialect is 0 unless the bytes do not tell (BIP 158 and LevelDB). options may be NULL. The bytes
// are not needed afterwards. Errors: POSY_DAMAGED; POSY_UNSUPPORTED if they are of no dialect, or of a kind that is not read;
// POSY_TOO_LARGE. Free with posy_foreign_free().
POSY_API posy_status posy_foreign_from_bytes(const void *bytes, size_t size, int dialect, const posy_dialect_options *options,
                                             posy_foreign **foreign, posy_error *error);
// The same of a file. Errors: as above, POSY_INPUT_OUTPUT, and POSY_INVALID if it is empty or a folder. Free with
// posy_foreign_free().
POSY_API posy_status posy_foreign_load(const char *path, int dialect, const posy_dialect_options *options,
                                       posy_foreign **foreign, posy_error *error);
// The filters of a column (a name, or a path with dots) of a Parquet file, of all its row groups together; they are only
// asked, and only for keys of the column's type: integers, text or bytes, or the numbers of FLOAT and DOUBLE, as integers or
// in decimal. Errors: as above; POSY_INVALID for a column that is not there or has none. Free with posy_foreign_free().
POSY_API posy_status posy_foreign_load_parquet(const char *path, const char *column, posy_foreign **foreign,
                                               posy_error *error);
// Gives a foreign filter back; NULL is nothing.
POSY_API void posy_foreign_free(posy_foreign *foreign);
// Inserts a key of size bytes. Errors: POSY_INVALID for NULL; the format takes no more keys.
POSY_API posy_status posy_foreign_insert(posy_foreign *foreign, const void *key, size_t size, posy_error *error);
// Inserts an integer, which is a long to Spark, Guava and Parquet.
POSY_API posy_status posy_foreign_insert_u64(posy_foreign *foreign, uint64_t key, posy_error *error);
// Inserts many keys. Errors: as above; if the format takes no more, those before are inserted.
POSY_API posy_status posy_foreign_insert_many(posy_foreign *foreign, const posy_keys *keys, posy_error *error);
// As posy_filter_may_contain(); also -1 for text or bytes where a column of a Parquet file has integers.
POSY_API int posy_foreign_may_contain(const posy_foreign *foreign, const void *key, size_t size);
// As posy_filter_may_contain_u64(); also -1 where a column of a Parquet file has text or bytes.
POSY_API int posy_foreign_may_contain_u64(const posy_foreign *foreign, uint64_t key);
// As posy_filter_may_contain_many(), on the calling thread. Errors: also POSY_INVALID where a column of a Parquet file has
// keys of another kind.
POSY_API posy_status posy_foreign_may_contain_many(const posy_foreign *foreign, const posy_keys *keys, bool *answers,
                                                   size_t *yes, posy_error *error);
// into becomes the filter of both sets. Errors: POSY_MISMATCH for another dialect, size or hash; POSY_UNSUPPORTED for what
// cannot be united: a set of bip158 that was read, a retouched filter, a column of a Parquet file; POSY_TOO_LARGE beyond
// what its program accepts.
POSY_API posy_status posy_foreign_unite(posy_foreign *into, const posy_foreign *from, posy_error *error);
// Everything about it. Set info->struct_size first.
POSY_API posy_status posy_foreign_info_of(const posy_foreign *foreign, posy_foreign_info *info, posy_error *error);
// The bytes that the other program reads, to be given back with posy_free(). dialect: 0, or another one to convert to.
// Errors: POSY_MISMATCH where the bits mean nothing there; POSY_UNSUPPORTED for a column of a Parquet file with several row
// groups, or whose keys are neither text, bytes nor INT64; POSY_NO_MEMORY.
POSY_API posy_status posy_foreign_to_bytes(const posy_foreign *foreign, int dialect, void **bytes, size_t *size,
                                           posy_error *error);
// The same as a file, which other processes see complete or not at all. Errors: as above, and POSY_INPUT_OUTPUT.
POSY_API posy_status posy_foreign_save(const posy_foreign *foreign, const char *path, int dialect, posy_error *error);

// ---- Texts and signed integers --------------------------------------------------------------------------
//
// Each is the function of the same name for bytes or integers. A text ends at its NUL; NULL is refused.

// The bytes of a text; of NULL one that is not there, which every function refuses.
static inline size_t posy_size_of_text(const char *text) { return text ? strlen(text) : 1; }

// Inserts a text.
static inline posy_status posy_filter_insert_text(posy_filter *filter, const char *key, posy_error *error) {
    return posy_filter_insert(filter, key, posy_size_of_text(key), error);
}
// Inserts a signed integer.
static inline posy_status posy_filter_insert_i64(posy_filter *filter, int64_t key, posy_error *error) {
    return posy_filter_insert_u64(filter, (uint64_t)key, error);
}
// May the filter contain the text?
static inline int posy_filter_may_contain_text(const posy_filter *filter, const char *key) {
    return posy_filter_may_contain(filter, key, posy_size_of_text(key));
}
// May the filter contain the signed integer?
static inline int posy_filter_may_contain_i64(const posy_filter *filter, int64_t key) {
    return posy_filter_may_contain_u64(filter, (uint64_t)key);
}
// Inserts a text.
static inline posy_status posy_counting_insert_text(posy_counting *counting, const char *key, posy_error *error) {
    return posy_counting_insert(counting, key, posy_size_of_text(key), error);
}
// Removes a text.
static inline int posy_counting_remove_text(posy_counting *counting, const char *key) {
    return posy_counting_remove(counting, key, posy_size_of_text(key));
}
// May the filter contain the text?
static inline int posy_counting_may_contain_text(const posy_counting *counting, const char *key) {
    return posy_counting_may_contain(counting, key, posy_size_of_text(key));
}
// Inserts a text.
static inline posy_status posy_growing_insert_text(posy_growing *growing, const char *key, posy_error *error) {
    return posy_growing_insert(growing, key, posy_size_of_text(key), error);
}
// May the filter contain the text?
static inline int posy_growing_may_contain_text(const posy_growing *growing, const char *key) {
    return posy_growing_may_contain(growing, key, posy_size_of_text(key));
}
// Inserts a text at this time.
static inline int posy_window_insert_text(posy_window *window, const char *key, uint64_t time) {
    return posy_window_insert(window, key, posy_size_of_text(key), time);
}
// Was the text inserted within the window before this time?
static inline int posy_window_may_contain_text(const posy_window *window, const char *key, uint64_t time) {
    return posy_window_may_contain(window, key, posy_size_of_text(key), time);
}
// May the filter contain the text?
static inline int posy_sealed_may_contain_text(const posy_sealed *sealed, const char *key) {
    return posy_sealed_may_contain(sealed, key, posy_size_of_text(key));
}
// The value of a text.
static inline int posy_map_find_text(const posy_map *map, const char *key, uint64_t *value) {
    return posy_map_find(map, key, posy_size_of_text(key), value);
}
// Counts a text.
static inline posy_status posy_counts_add_text(posy_counts *counts, const char *key, uint64_t weight, uint64_t *estimate,
                                               posy_error *error) {
    return posy_counts_add(counts, key, posy_size_of_text(key), weight, estimate, error);
}
// How often a text was counted, at most.
static inline posy_status posy_counts_estimate_text(const posy_counts *counts, const char *key, uint64_t *estimate,
                                                    posy_error *error) {
    return posy_counts_estimate(counts, key, posy_size_of_text(key), estimate, error);
}
// Counts a text.
static inline posy_status posy_hitters_add_text(posy_hitters *hitters, const char *key, uint64_t weight, posy_error *error) {
    return posy_hitters_add(hitters, key, posy_size_of_text(key), weight, error);
}
// Inserts a text.
static inline posy_status posy_foreign_insert_text(posy_foreign *foreign, const char *key, posy_error *error) {
    return posy_foreign_insert(foreign, key, posy_size_of_text(key), error);
}
// May the filter contain the text?
static inline int posy_foreign_may_contain_text(const posy_foreign *foreign, const char *key) {
    return posy_foreign_may_contain(foreign, key, posy_size_of_text(key));
}

#ifdef __cplusplus
}
#endif

#endif
