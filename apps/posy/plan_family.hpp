// What posy plan says of the other members of the family, where an option asks for them: window filters,
// maps, sketches, reconciliation, intersection.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "posy/plan.hpp"

namespace posy::tool {

class command_line;

class family_options {
  public:
    void add_to(command_line&);
    // A sketch is the only one that asks for no number of items.
    bool only_sketch() const {
        return !sketch_.empty() && !generations_ && !value_bits_ && !spectral_ && difference_.empty() &&
               intersect_.empty();
    }

    // What was asked for, for people and for programs, beside a filter or without one. `json` gets a field
    // per member. The others are planned for the rate that was wished, else for the filter's.
    std::string describe(const plan* beside, std::optional<double> wished,
                         nlohmann::ordered_json& json) const;

  private:
    std::string window(const plan&, nlohmann::ordered_json&) const;
    std::string map(const plan&, nlohmann::ordered_json&) const;
    std::string reconciliation(const plan&, nlohmann::ordered_json&) const;
    std::string intersection(const plan&, nlohmann::ordered_json&) const;
    std::string spectral(const plan&, nlohmann::ordered_json&) const;
    std::string sketch(nlohmann::ordered_json&) const;

    std::optional<unsigned> generations_, value_bits_;
    bool spectral_ = false;
    std::string difference_, items_there_, intersect_, sketch_;
};

}  // namespace posy::tool
