# Packages of what is installed: cpack -G DEB, cpack -G RPM. Three of each: the libraries, which are static (libposy-dev,
# posy-devel), the shared library of the C interface (libposy-c0, posy-c), and the tool (posy). A package is for the
# distribution that it is built on: what is linked depends on the shared libraries that it is linked with there.
set(CPACK_PACKAGE_VENDOR "The Posy authors")
set(CPACK_PACKAGE_CONTACT ${CPACK_PACKAGE_VENDOR})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_COMPONENTS_ALL library)
if(POSY_C)
  list(APPEND CPACK_COMPONENTS_ALL c)
endif()
if(POSY_TOOL)
  list(APPEND CPACK_COMPONENTS_ALL tool)
endif()
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "\
Plans, filters, messages and deltas, sketches, sealed and growing filters,
reconciliation of sets, and HTTP caching, for C++20. This package has the
static libraries, their headers, and what CMake and pkg-config need.")
set(CPACK_COMPONENT_C_DESCRIPTION "\
The shared library of Posy's C interface, for programs that are linked with
it: filters, sealed and counting filters, maps, counts, deltas, and the
filters of other programs.")
set(CPACK_COMPONENT_TOOL_DESCRIPTION "\
The command posy plans, builds, queries, compares and sends Bloom filters.
Its node publishes a summary of a set to its peers, and its caching proxy
shares such summaries with its siblings.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS  # whatever the umask
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)
set(CPACK_VERBATIM_VARIABLES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libposy-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libxxhash-dev, pkg-config")
set(CPACK_DEBIAN_C_PACKAGE_NAME libposy-c0)
set(CPACK_DEBIAN_C_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_C_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_NAME posy)
set(CPACK_DEBIAN_TOOL_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_TOOL_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_TOOL_PACKAGE_SUGGESTS gnuplot-nox)

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE Apache-2.0)
set(CPACK_RPM_LIBRARY_PACKAGE_NAME posy-devel)
set(CPACK_RPM_LIBRARY_PACKAGE_REQUIRES "/usr/bin/pkg-config, pkgconfig(libxxhash)")
set(CPACK_RPM_C_PACKAGE_NAME posy-c)
set(CPACK_RPM_TOOL_PACKAGE_NAME posy)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION  # folders that belong to others
  /usr/${CMAKE_INSTALL_LIBDIR}/cmake /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig /usr/share/bash-completion /usr/share/bash-completion/completions
  /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/zsh /usr/share/zsh/site-functions
  /usr/share/man /usr/share/man/man1 /etc /etc/logrotate.d /usr/lib /usr/lib/systemd /usr/lib/systemd/system)

if(POSY_TOOL AND POSY_NODE)  # what the daemons need (package_files.cmake); files in /etc are the administrator's
  set(CPACK_POSY_DAEMONS ON)
  set(conffiles ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles)
  set(CPACK_DEBIAN_TOOL_PACKAGE_CONTROL_EXTRA ${conffiles})
  file(STRINGS ${conffiles} kept)
  list(TRANSFORM kept PREPEND "%config(noreplace) ")
  set(CPACK_RPM_TOOL_USER_FILELIST ${kept})
endif()
if(POSY_C)
  string(APPEND CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ", libposy-c0 (= ${PROJECT_VERSION}-1)")
  string(APPEND CPACK_RPM_LIBRARY_PACKAGE_REQUIRES ", posy-c = ${PROJECT_VERSION}")
endif()
if(POSY_MD5)
  string(APPEND CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS ", libssl-dev")
  string(APPEND CPACK_RPM_LIBRARY_PACKAGE_REQUIRES ", pkgconfig(libcrypto)")
endif()
include(CPack)
