// Messages of Unix sockets that carry descriptors of open files.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstring>
#include <span>
#include <vector>

#include "base/file_descriptor.hpp"

namespace partita {

/// Plain bytes, and up to `most` descriptors with them.
template <class Letter, std::size_t most>
struct DescriptorMessage {
  Letter letter{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * most)> control{};
  iovec part{&letter, sizeof(letter)};
  msghdr header{};

  DescriptorMessage() {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  DescriptorMessage(const DescriptorMessage&) = delete;
  DescriptorMessage& operator=(const DescriptorMessage&) = delete;

  void attach(std::span<const int> descriptors) {
    cmsghdr* const item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(item), descriptors.data(), descriptors.size_bytes());
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  }

  std::vector<FileDescriptor> detach() {
    std::vector<FileDescriptor> result;
    for (cmsghdr* item = CMSG_FIRSTHDR(&header); item != nullptr; item = CMSG_NXTHDR(&header, item)) {
      if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      for (std::size_t i = 0; i < count; ++i) {
        int number = -1;
        std::memcpy(&number, CMSG_DATA(item) + i * sizeof(int), sizeof(int));
        result.emplace_back(number);
      }
    }
    return result;
  }
};

}  // namespace partita
