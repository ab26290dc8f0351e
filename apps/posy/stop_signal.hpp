// For a command that has something to save before a signal ends it.
#pragma once

namespace posy::tool {

// A descriptor that can be read once SIGINT or SIGTERM has come. The second signal ends the process as usual,
// so that one that is stuck in writing can still be stopped.
int stop_on_signal();

}  // namespace posy::tool
