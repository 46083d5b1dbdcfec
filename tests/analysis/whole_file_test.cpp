#include "analysis/whole_file.h"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/error.h"

using namespace halfulp;
namespace fs = std::filesystem;

namespace {

struct Folder {
  fs::path path;
  Folder() {
    std::string name = fs::temp_directory_path() / "halfulp-whole-file-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const char* name) const { return (path / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), fs::directory_iterator()));
  }
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("whole file: the bytes arrive, replace older ones, and nothing else stays in the folder") {
  const Folder folder;
  const std::string bytes("a\0b\n", 4);
  write_whole_file(folder / "x", "older and longer");
  write_whole_file(folder / "x", bytes);
  CHECK(text_of(folder / "x") == bytes);
  write_whole_file(folder / "empty", "");
  CHECK(fs::file_size(folder / "empty") == 0);
  CHECK(folder.count() == 2);
}

TEST_CASE("whole file: permissions are those of an ordinary new file") {
  const Folder folder;
  const mode_t mask = ::umask(022);
  write_whole_file(folder / "x", "1");
  ::umask(mask);
  CHECK((fs::status(folder / "x").permissions() & fs::perms::mask) == fs::perms(0644));
}

TEST_CASE("whole file: an error names path and reason") {
  const Folder folder;
  const std::string path = folder / "missing/x";
  try {
    write_whole_file(path, "1");
    FAIL("written into a folder that does not exist");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find(path) != std::string::npos);
    CHECK(text.find("No such file or directory") != std::string::npos);
  }
  CHECK_THROWS_AS(write_whole_file("", "1"), Error);
  CHECK_THROWS_AS(write_whole_file(folder.path.string() + "/", "1"), Error);
}

TEST_CASE("whole file: a folder in the way is an error and leaves no part behind") {
  const Folder folder;
  fs::create_directory(folder / "taken");
  CHECK_THROWS_AS(write_whole_file(folder / "taken", "1"), Error);
  CHECK(folder.count() == 1);
}

TEST_CASE("whole files: if one cannot be written, none is") {
  const Folder folder;
  const std::string good = folder / "good", bad = folder / "missing/bad";
  const std::array files{FileContent{good, "1"}, FileContent{bad, "2"}};
  CHECK_THROWS_AS(write_whole_files(files), Error);
  CHECK(folder.count() == 0);
}
