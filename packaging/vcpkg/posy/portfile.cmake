# The libraries of the Posy that this file lies in: vcpkg install posy --overlay-ports=packaging/vcpkg
vcpkg_check_linkage(ONLY_STATIC_LIBRARY)
set(VCPKG_FIXUP_ELF_RPATH OFF)  # static libraries have none
cmake_path(SET SOURCE_PATH NORMALIZE "${CURRENT_PORT_DIR}/../../..")
vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_check_features(OUT_FEATURE_OPTIONS features FEATURES
  http-cache POSY_HTTP_CACHE
  md5 POSY_MD5)
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${features} -DPOSY_TOOL=OFF -DPOSY_TESTS=OFF -DPOSY_C=OFF "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/posy)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include")
file(INSTALL "${CURRENT_PORT_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/posy")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
