// What posy plan --bounds sets beside a plan: how few bits there can be, and what the papers' other ways
// would take for the same set.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "posy/plan.hpp"

namespace posy::tool {

class command_line;

class bounds_options {
  public:
    void add_to(command_line&);
    // Nothing unless asked for. `json` gets the field "bounds".
    std::string describe(const plan&, const wishes&, nlohmann::ordered_json& json) const;

  private:
    bool wanted_ = false;
    std::string universe_;
};

}  // namespace posy::tool
