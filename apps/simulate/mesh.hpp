// The gossip mesh, simulated: what its two experiments share.
#pragma once

#include "posy/geometry.hpp"
#include "posy/overlay/gossip_member.hpp"
#include "systems.hpp"

namespace posy::simulate {

// 24 bits per object and 6 hashes: one false positive in 8,500 questions.
posy::geometry mesh_geometry(double objects_per_node);
overlay::gossip_settings mesh_settings();

// Nodes are replaced by new ones, and for a while the network is divided.
report run_mesh_with_churn(const options&);

}  // namespace posy::simulate
