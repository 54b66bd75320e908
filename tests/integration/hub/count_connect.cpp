// To be preloaded: adds a line to the file CONNECT_LOG for each connection that the process begins over IP.

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

extern "C" int connect(int descriptor, const sockaddr* address, socklen_t size) {
  using Connect = int (*)(int, const sockaddr*, socklen_t);
  static const auto original = reinterpret_cast<Connect>(dlsym(RTLD_NEXT, "connect"));
  const char* path = getenv("CONNECT_LOG");
  if (path != nullptr && (address->sa_family == AF_INET || address->sa_family == AF_INET6)) {
    const int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || write(log, "connect\n", 8) != 8) abort();
    close(log);
  }
  return original(descriptor, address, size);
}
