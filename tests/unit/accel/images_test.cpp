#include "host/accel/images.h"

#include <gmock/gmock.h>

#include "tests/fakes/fake_package.h"

namespace lerobot::accel {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class Images : public testing::Test {
 protected:
  fs::path file(const std::string& name) {
    test::write_file(root_.path() / name, "x");
    return root_.path() / name;
  }
  test::TemporaryDirectory root_;
  fs::path chosen_ = root_.path() / "chosen";
};

TEST_F(Images, FromElsewhereAreNamed) {
  const fs::path own = file("chosen/libtorch_cpu.so");
  const fs::path other = file("other/libtorch_cpu.so");
  const fs::path c10 = file("other/libc10.so");
  EXPECT_THAT(foreign_images({own, other, c10, file("other/libm.so.6")}, {own}, chosen_),
              ElementsAre(other.string(), c10.string()));
}

TEST_F(Images, AreTheSameFileUnderAnotherName) {
  const fs::path own = file("chosen/libc10.so");
  fs::create_directories(root_.path() / "other");
  fs::create_hard_link(own, root_.path() / "other/libc10.so");
  fs::create_directory_symlink(chosen_, root_.path() / "link");
  EXPECT_THAT(foreign_images({root_.path() / "other/libc10.so", root_.path() / "link/libc10.so"}, {own}, chosen_),
              IsEmpty());
}

TEST_F(Images, OfOpenMpMayComeFromTheSystemOnlyWhenTorchBringsNone) {
  const fs::path own = file("chosen/libtorch_cpu.so");
  const fs::path system = file("usr/libgomp.so.1");
  EXPECT_THAT(foreign_images({own, system}, {own}, chosen_), IsEmpty());
  const fs::path second = file("opt/libiomp5.so");
  EXPECT_THAT(foreign_images({own, system, second}, {own}, chosen_), ElementsAre(system.string(), second.string()));
  const fs::path brought = file("chosen/libgomp-24e2ab19.so.1");
  EXPECT_THAT(foreign_images({own, system, brought}, {own}, chosen_), ElementsAre(system.string()));
}

TEST_F(Images, ThatWereDeletedAreForeign) {
  const std::string deleted = "/gone/libtorch_cpu.so (deleted)";  // as the kernel writes it
  EXPECT_THAT(foreign_images({deleted}, {}, chosen_), ElementsAre(deleted));
}

TEST(MappedFiles, AreReadFromTheKernelsList) {
  const std::string maps =
      "55d0-55d1 r-xp 00000000 fe:01 1234                       /usr/bin/a b\n"
      "7f00-7f01 r--p 00000000 fe:01 77                         /lib/libx.so\n"
      "7f01-7f02 r-xp 00001000 fe:01 77                         /lib/libx.so\n"
      "7ffe-7fff rw-p 00000000 00:00 0                          [stack]\n"
      "7f05-7f06 rw-p 00000000 00:00 0 \n";
  EXPECT_THAT(mapped_files(maps), ElementsAre("/usr/bin/a b", "/lib/libx.so"));
}

}  // namespace
}  // namespace lerobot::accel
