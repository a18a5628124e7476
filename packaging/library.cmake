# What `cmake --install --component library` puts below the prefix: header, libraries, and how CMake and
# pkg-config find them.
include(GNUInstallDirs)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/bulkhead DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library EXCLUDE_FROM_ALL)
install(TARGETS bulkhead_static bulkhead_shared
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library EXCLUDE_FROM_ALL
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library EXCLUDE_FROM_ALL)
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/bulkhead-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/bulkhead-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bulkhead
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/bulkhead-config-version.cmake
  COMPATIBILITY SameMinorVersion)
# By where the file stands: the prefix may be chosen when it is installed.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
  set(prefix_of_pc ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH prefix_of_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" prefix_of_pc "\${pcfiledir}/${prefix_of_pc}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/bulkhead.pc.in ${CMAKE_CURRENT_BINARY_DIR}/bulkhead.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bulkhead-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/bulkhead-config-version.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/bulkhead COMPONENT library EXCLUDE_FROM_ALL)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/bulkhead.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library EXCLUDE_FROM_ALL)
