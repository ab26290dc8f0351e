// A process of this program that serves on a port. It ends with its object.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace posy::lab {

// Different ports of the loopback that are free at this moment.
std::vector<std::uint16_t> free_ports(std::size_t count);

class child {
  public:
    // Starts `posy ARGUMENTS…` and waits until something answers on the port. Throws std::runtime_error if
    // the process ends before, or ten seconds pass. Its standard error goes to `log`, if that is not empty.
    child(const std::vector<std::string>& arguments, std::uint16_t port, const std::string& log = {});
    child(child&&) noexcept;
    child& operator=(child&&) = delete;
    ~child();

    std::uint16_t port() const { return port_; }
    pid_t pid() const { return pid_; }
    // CPU seconds it has used, and its memory in bytes.
    double cpu_seconds() const;
    std::uint64_t memory() const;

  private:
    pid_t pid_ = -1;
    std::uint16_t port_;
};

}  // namespace posy::lab
