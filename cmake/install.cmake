# An installed Posy is found by find_package(posy) and by pkg-config. Each library is a component with targets of
# its own: find_package(posy COMPONENTS http_cache).
include(CMakePackageConfigHelpers)

function(posy_install_library target component headers)
  install(TARGETS ${target} EXPORT posy-${component}-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${headers}/posy DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT posy-${component}-targets NAMESPACE posy:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posy)
endfunction()

posy_install_library(posy core include)
if(TARGET posy_http_cache)
  posy_install_library(posy_http_cache http_cache http_cache/include)
endif()

set(POSY_PKG_REQUIRES "libxxhash")
if(POSY_MD5)
  string(APPEND POSY_PKG_REQUIRES " libcrypto")
endif()
configure_package_config_file(cmake/posy-config.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/posy-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posy)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/posy-config-version.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(cmake/posy.pc.in ${CMAKE_CURRENT_BINARY_DIR}/posy.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/posy-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/posy-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/posy)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/posy.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
