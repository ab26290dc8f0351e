// A command that has something to save when it is told to end.
#pragma once

namespace posy::tool {

// A descriptor that can be read once SIGINT or SIGTERM has come. The second signal ends the process, as it
// would have without this: whoever waits for a reader that does not read can still be stopped.
int stop_on_signal();

}  // namespace posy::tool
