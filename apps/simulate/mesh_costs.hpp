// What the messages of a mesh should weigh, from the sizes of their fields and the entropy of their contents.
#pragma once

#include "mesh_world.hpp"
#include "posy/theory/gossip.hpp"

namespace posy::simulate {

struct mesh_costs {
    // For summaries of so many objects, in bytes.
    mesh_costs(const posy::geometry&, double objects, double nodes);

    double version = 0;              // a mention of a member
    double greeting = 0, reply = 0;  // without news
    double delta = 0, whole = 0;     // a summary in which one object was replaced; a whole summary
    double record(double summary) const { return want_ + record_ + summary; }  // asked for and sent
    double revival = 0;  // a greeting to a member that is gone

  private:
    double want_ = 0, record_ = 0;
};

// Of settings and links: latency in ms.
theory::gossip_model mesh_model(const overlay::gossip_settings&, double nodes, double loss, double latency);

}  // namespace posy::simulate
