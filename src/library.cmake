# libbulkhead: base, policy and sandbox as one library for programs of others (include/bulkhead/), static
# and shared, of the very objects that the program is made of: bulkhead_options has them fit for both.
foreach(part base policy sandbox)
  list(APPEND library_objects $<TARGET_OBJECTS:bulkhead_${part}>)
endforeach()

foreach(kind STATIC SHARED)
  string(TOLOWER ${kind} suffix)
  add_library(bulkhead_${suffix} ${kind} EXCLUDE_FROM_ALL ${library_objects})
  set_target_properties(bulkhead_${suffix} PROPERTIES OUTPUT_NAME bulkhead LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  target_include_directories(bulkhead_${suffix} INTERFACE ${CMAKE_SOURCE_DIR}/include)
endforeach()
set(needs fmt::fmt PkgConfig::SODIUM Threads::Threads)
target_link_libraries(bulkhead_static INTERFACE ${needs})
target_link_libraries(bulkhead_shared PRIVATE ${needs})
set_target_properties(bulkhead_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)
# Its threads may be there still, and the signal's handler is for good: it is never unloaded.
target_link_options(bulkhead_shared PRIVATE -Wl,-z,nodelete -Wl,-z,defs -Wl,-z,relro,-z,now)
add_custom_target(library DEPENDS bulkhead_static bulkhead_shared)
