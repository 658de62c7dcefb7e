# cmake --install gives headers, library, tools, and a CMake package with the
# target Caffe::caffe. A program uses it like this:
#
#   find_package(Caffe REQUIRED)
#   target_link_libraries(my_program PRIVATE Caffe::caffe)

include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Caffe)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/caffe
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING
        PATTERN *.hpp PATTERN *.h)
install(DIRECTORY ${PROJECT_BINARY_DIR}/include/caffe
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.pb.h)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/caffe/proto
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/caffe
        FILES_MATCHING PATTERN *.proto)

install(TARGETS caffe caffe_codec EXPORT CaffeTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET caffe_whole)
  install(TARGETS caffe_whole EXPORT CaffeTargets)
endif()
install(EXPORT CaffeTargets NAMESPACE Caffe:: DESTINATION ${package_dir})

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/CaffeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/CaffeConfig.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/CaffeConfigVersion.cmake
  COMPATIBILITY SameMajorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/CaffeConfig.cmake
  ${PROJECT_BINARY_DIR}/CaffeConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/CaffeDependencies.cmake
  DESTINATION ${package_dir})
