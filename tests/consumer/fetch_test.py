"""A project that takes Posy in with FetchContent builds the core library alone, and installs nothing of it."""
import os

from ways import SOURCE, Ways, blocks, files, main


class Fetch(Ways):
    def test_fetch(self):
        self.environment = {**os.environ, "CMAKE_BUILD_TYPE": "Debug"}  # not optimized: that takes twice as long
        os.symlink(SOURCE, os.path.join(self.project, "posy"))
        self.write("CMakeLists.txt", *blocks("CMake: FetchContent", "cmake"))
        self.run_in(self.project, *blocks("CMake: FetchContent", "sh"))
        self.expect("build", ["app"])
        build, prefix = (os.path.join(self.project, folder) for folder in ("build", "prefix"))
        self.run_in(self.project, "cmake --install build --prefix prefix")
        self.assertEqual(files(prefix), {"bin/app"})
        self.assertEqual([file for file in files(build) if file.endswith(".a")], ["_deps/posy-build/libposy.a"])


main()
