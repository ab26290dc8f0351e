// The live page of a node: one file that needs nothing else, made from apps/node/page.html by the build.
#pragma once

#include <string_view>

namespace posy::node {

extern const std::string_view page_html;

}  // namespace posy::node
