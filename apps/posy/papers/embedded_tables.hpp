// The files of testdata/tables, put into the program by the build, so that an installed tool has them.
#pragma once

#include <string_view>

namespace posy::tool::papers::embedded {

extern const std::string_view fan1998, mitzenmacher2002, broder2004, misprints, simulations, texts;

}  // namespace posy::tool::papers::embedded
