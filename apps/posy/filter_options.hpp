// The options that describe a filter to plan or build, and the hash of one.
#pragma once

#include <optional>
#include <string>

#include "posy/plan.hpp"

namespace posy::tool {

class command_line;

class filter_options {
  public:
    // `items` says what the number of items is if it is not given.
    void add_to(command_line&, const std::string& items);
    // What was asked for. `items` where the command line does not say.
    wishes to_wishes(std::uint64_t items = 0) const;
    bool has_items() const { return !items_.empty(); }
    // Nothing but a rate, a layout or a number of hashes was asked for.
    bool only_rate() const {
        return items_.empty() && max_memory_.empty() && minimize_.empty() && !bits_per_item_ &&
               !message_bits_ && !delta_bits_ && !delta_fraction_ && !max_hashes_;
    }

  private:
    std::string items_, max_memory_, layout_, minimize_;
    std::optional<double> fpr_, bits_per_item_, message_bits_, delta_bits_, delta_fraction_;
    std::optional<unsigned> hashes_, max_hashes_;
};

// The counters of a spectral filter: as the bits of the best filter for such a wish, spread, since lines and
// blocks gain nothing where a counter takes four bytes. Throws a failure that begins with `command`.
geometry spectral_geometry(wishes, const std::string& command);

class hash_options {
  public:
    explicit hash_options(hash_family otherwise = hash_family::xxh3) : family_(name_of(otherwise)) {}
    // Without a family of its own: the planner's, unless another is given.
    static hash_options of_plan() { return hash_options(hash_family{}); }

    // `unseeded` says what the seed of siphash is if none is given.
    void add_to(command_line&, const std::string& unseeded = "a random key");
    bool has_seed() const { return !seed_.empty() || !seed_file_.empty(); }
    hash_family family() const { return *given(); }
    std::optional<hash_family> given() const { return named<hash_family>(family_); }
    // The seed asked for; for siphash without one, a random key.
    hash_seed seed() const;

  private:
    std::string family_, seed_, seed_file_;
};

}  // namespace posy::tool
