# Installs the library below a folder of its own and builds examples/library against that, by CMake and by
# pkg-config; then they run.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " text)
    message(FATAL_ERROR "${text}: ${result}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(place ${BUILD}/tests/library/installed)
file(REMOVE_RECURSE ${place})
run(${CMAKE_COMMAND} --install ${BUILD} --component library --prefix ${place}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE}/examples/library -B ${place}/build -DCMAKE_PREFIX_PATH=${place}/prefix
    -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${place}/build)

file(WRITE ${place}/work/text "one\ntwo\n")
run(${place}/build/run_command ${place}/work /usr/bin/wc -l text)
if(NOT output MATCHES "2 text")
  message(FATAL_ERROR "run_command said: ${output}")
endif()
file(WRITE ${place}/lines "a\nb\nc\nd\ne\n")
execute_process(COMMAND ${place}/build/pool 2 INPUT_FILE ${place}/lines OUTPUT_VARIABLE said RESULT_VARIABLE result)
string(SHA256 of_a "a")
string(SHA256 of_e "e")
if(NOT result EQUAL 0 OR NOT said MATCHES "^${of_a}\n.*\n${of_e}\n$")
  message(FATAL_ERROR "pool said: ${said}")
endif()

# The archive, and what it needs, told by pkg-config.
file(GLOB_RECURSE pc ${place}/prefix/bulkhead.pc)
get_filename_component(pc_folder ${pc} DIRECTORY)
file(READ ${pc} text)
string(REGEX REPLACE "prefix=[^\n]*" "prefix=${place}/prefix" text "${text}")
file(WRITE ${pc} "${text}")
set(ENV{PKG_CONFIG_PATH} ${pc_folder})
run(pkg-config --cflags --libs --static bulkhead)
separate_arguments(flags UNIX_COMMAND "${output}")
list(REMOVE_ITEM flags -lbulkhead)
run(${CXX} -std=c++20 ${SOURCE}/examples/library/run_command.cc -o ${place}/run_command_static
    ${pc_folder}/../libbulkhead.a ${flags})
run(${place}/run_command_static ${place}/work /bin/cat text)
