# An installed Posy is found by find_package(posy) and by pkg-config. Each library is a component of find_package with
# targets of its own: find_package(posy COMPONENTS http_cache). Installed are three components: the libraries, the shared
# library of the C interface, and the tool (cmake --install build/release --component tool). Nothing that is installed knows its prefix, so --prefix may be any.
include(CMakePackageConfigHelpers)
set(POSY_INSTALL_CMAKEDIR ${CMAKE_INSTALL_LIBDIR}/cmake/posy)
set(POSY_INSTALL_PKGCONFIGDIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# posy.pc finds its prefix from its own place.
cmake_path(APPEND CMAKE_INSTALL_FULL_LIBDIR pkgconfig OUTPUT_VARIABLE pkgconfigdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${pkgconfigdir} OUTPUT_VARIABLE POSY_PC_PREFIX)
cmake_path(APPEND POSY_PC_LIBDIR "\${prefix}" ${CMAKE_INSTALL_LIBDIR})
cmake_path(APPEND POSY_PC_INCLUDEDIR "\${prefix}" ${CMAKE_INSTALL_INCLUDEDIR})
set(POSY_PC_REQUIRES libxxhash)
if(POSY_MD5)
  string(APPEND POSY_PC_REQUIRES ", libcrypto")
endif()
# Whoever links a static library links all that it needs.
set(POSY_PC_PRIVATE "")
if(BUILD_SHARED_LIBS)
  set(POSY_PC_PRIVATE .private)
endif()

function(posy_install_library target component headers pc)
  install(TARGETS ${target} EXPORT posy-${component}-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(DIRECTORY ${headers}/posy DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
  install(EXPORT posy-${component}-targets NAMESPACE posy:: DESTINATION ${POSY_INSTALL_CMAKEDIR} COMPONENT library)
  configure_file(cmake/${pc}.in ${PROJECT_BINARY_DIR}/${pc} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc} DESTINATION ${POSY_INSTALL_PKGCONFIGDIR} COMPONENT library)
endfunction()

posy_install_library(posy core include posy.pc)
if(TARGET posy_http_cache)
  posy_install_library(posy_http_cache http_cache http_cache/include posy-http_cache.pc)
endif()

# Whoever runs a program in C needs the shared library alone; the link to it and the header are for those who compile.
if(TARGET posy_c)
  install(TARGETS posy_c EXPORT posy-c-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c NAMELINK_COMPONENT library)
  install(FILES bindings/c/include/posy.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
  install(EXPORT posy-c-targets NAMESPACE posy:: DESTINATION ${POSY_INSTALL_CMAKEDIR} COMPONENT library)
  configure_file(cmake/posy-c.pc.in ${PROJECT_BINARY_DIR}/posy-c.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/posy-c.pc DESTINATION ${POSY_INSTALL_PKGCONFIGDIR} COMPONENT library)
endif()

configure_package_config_file(cmake/posy-config.cmake.in ${PROJECT_BINARY_DIR}/posy-config.cmake
  INSTALL_DESTINATION ${POSY_INSTALL_CMAKEDIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/posy-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/posy-config.cmake ${PROJECT_BINARY_DIR}/posy-config-version.cmake
  DESTINATION ${POSY_INSTALL_CMAKEDIR} COMPONENT library)
