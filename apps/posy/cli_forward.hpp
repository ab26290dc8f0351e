// The classes of CLI11, for headers that only name them: its own header costs every file seconds.
#pragma once

namespace CLI {
class App;
class Option;
}  // namespace CLI
