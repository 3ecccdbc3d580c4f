# fovea_add_model(NAME tagger
#     SOURCES my_model.cpp        the file of the model's function; none for a built-in model
#     MODEL my_model              the function
#     [SETTINGS hidden=256 …]     as --set of the command
#     [PROGRAMS forward train decode]  forward by default; train: gradients, too, and training_step
#                                 of a model with a loss; decode: prefill and decode_step of a model
#                                 that goes on with texts
#     [ISA avx512 avx2 baseline]  instruction sets, of which the program takes its machine's best;
#                                 all by default, on aarch64 `neon`
#     [BITS fastest|portable]     portable: the same bits with AVX-512, AVX2 and NEON
#     [FUSION on|off|always]      on by default
#     [SMALL]                     a seventh less code in an application, without FOVEA_PROFILE
#     [PYTHON])                   a package for Python, too, in fovea/NAME_python of the build folder,
#                                 which the target NAME_python makes
#
# The library `tagger`: the model as the command writes it when the project is built, and again when
# a file that the model includes has changed. What links it includes "tagger.h": in C++ it has
# fovea::tagger::Model, Session and Trainer, in C tagger_load, tagger_forward and so on.
cmake_policy(PUSH)
cmake_policy(VERSION 3.22)  # whatever the project asks for

# fovea_rows(result macro): the first two arguments of each `macro(…)` in compiler_flags.def, as
# "speed|-O3".
function(fovea_rows result macro)
    set(file ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../codegen/emit/compiler_flags.def)
    file(STRINGS ${file} lines REGEX "^${macro}\\(")
    set(rows)
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^${macro}\\(([a-z0-9_]+), \"([^\"]*)\".*" "\\1|\\2" row "${line}")
        list(APPEND rows "${row}")
    endforeach()
    set(${result} "${rows}" PARENT_SCOPE)
endfunction()

# The flags of every file that is generated, and those for `isa` and for SMALL besides.
function(fovea_flags result isa small)
    set(flags)
    fovea_rows(rows FLAG)
    if(small)
        fovea_rows(small_rows SMALL_FLAG)
        list(APPEND rows ${small_rows})
    endif()
    foreach(row IN LISTS rows)
        string(REPLACE "|" ";" row "${row}")
        list(GET row 0 what)
        list(GET row 1 text)
        if(NOT what STREQUAL "gnu" OR CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
            list(APPEND flags ${text})
        endif()
    endforeach()
    fovea_rows(rows MACHINE_FLAG)
    foreach(row IN LISTS rows)
        string(REPLACE "|" ";" row "${row}")
        list(GET row 0 owner)
        list(GET row 1 text)
        if(owner STREQUAL isa)
            list(APPEND flags ${text})
        endif()
    endforeach()
    set(${result} "${flags}" PARENT_SCOPE)
endfunction()

# fovea_check(values what choices…): each of them is one of the choices.
function(fovea_check values what)
    foreach(value IN LISTS values)
        if(NOT value IN_LIST ARGN)
            list(JOIN ARGN ", " choices)
            message(FATAL_ERROR "fovea_add_model: ${what} takes ${choices}, not '${value}'")
        endif()
    endforeach()
endfunction()

function(fovea_add_model)
    cmake_parse_arguments(PARSE_ARGV 0 ARG "SMALL;PYTHON" "NAME;MODEL;FUSION;BITS" "SOURCES;SETTINGS;PROGRAMS;ISA")
    # Behind an argument that takes several values an unknown one would be one of them.
    set(unknown ${ARG_SOURCES} ${ARG_SETTINGS} ${ARG_PROGRAMS} ${ARG_ISA})
    list(FILTER unknown INCLUDE REGEX "^[A-Z_]+$")
    foreach(argument IN LISTS ARG_UNPARSED_ARGUMENTS unknown)
        message(FATAL_ERROR "fovea_add_model: unknown argument '${argument}': it takes NAME, SOURCES, "
            "MODEL, SETTINGS, PROGRAMS, ISA, BITS, FUSION, SMALL, PYTHON")
    endforeach()
    foreach(argument IN LISTS ARG_KEYWORDS_MISSING_VALUES)
        message(FATAL_ERROR "fovea_add_model: ${argument} has no value")
    endforeach()
    foreach(argument NAME MODEL)
        if(NOT ARG_${argument})
            message(FATAL_ERROR "fovea_add_model: ${argument} is missing")
        endif()
    endforeach()
    if(NOT ARG_NAME MATCHES "^[A-Za-z][A-Za-z0-9_]*$")
        message(FATAL_ERROR "fovea_add_model: NAME is a name of C++, and '${ARG_NAME}' is none")
    endif()
    if(TARGET ${ARG_NAME})
        message(FATAL_ERROR "fovea_add_model: there is a target '${ARG_NAME}' already: "
            "choose another NAME")
    endif()
    if(NOT CMAKE_CXX_COMPILER_LOADED)
        message(FATAL_ERROR "fovea_add_model: the project needs the language CXX: "
            "project(… LANGUAGES CXX)")
    endif()
    if(NOT ARG_PROGRAMS)
        set(ARG_PROGRAMS forward)
    endif()
    if(NOT ARG_FUSION)
        set(ARG_FUSION on)
    endif()
    fovea_check("${ARG_PROGRAMS}" PROGRAMS forward train decode)
    fovea_check("${ARG_FUSION}" FUSION on off always)
    fovea_check("${ARG_BITS}" BITS fastest portable)
    if(ARG_BITS STREQUAL "portable")
        fovea_check("${ARG_ISA}" "ISA with BITS portable" avx512 avx2 neon)
    else()
        fovea_check("${ARG_ISA}" ISA amx_bf16 avx512_bf16 avx512_vnni avx512 avx2 baseline
                    neon_bf16 neon)
    endif()
    foreach(setting IN LISTS ARG_SETTINGS)
        if(NOT setting MATCHES "^[^=]+=")
            message(FATAL_ERROR "fovea_add_model: SETTINGS takes NAME=VALUE, not '${setting}'")
        endif()
    endforeach()
    if(NOT ARG_ISA AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
        set(ARG_ISA neon)
        if("dtype=bf16" IN_LIST ARG_SETTINGS AND NOT ARG_BITS STREQUAL "portable")
            list(PREPEND ARG_ISA neon_bf16)
        endif()
    elseif(NOT ARG_ISA AND ARG_BITS STREQUAL "portable")
        set(ARG_ISA avx512 avx2)
    elseif(NOT ARG_ISA)
        set(ARG_ISA avx512 avx2 baseline)
        if("${ARG_SETTINGS}" MATCHES "(^|;)weights=int")
            list(PREPEND ARG_ISA avx512_vnni)
        endif()
        if("dtype=bf16" IN_LIST ARG_SETTINGS)
            list(PREPEND ARG_ISA amx_bf16 avx512_bf16)
        endif()
    endif()

    set(model ${ARG_MODEL})
    foreach(source IN LISTS ARG_SOURCES)
        if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${source} AND NOT EXISTS ${source})
            message(FATAL_ERROR "fovea_add_model: there is no file '${source}'")
        endif()
    endforeach()
    if(ARG_SOURCES)
        list(GET ARG_SOURCES 0 file)
        set(model ${file}:${ARG_MODEL})
    endif()
    set(options --name ${ARG_NAME} --fusion ${ARG_FUSION})
    foreach(setting IN LISTS ARG_SETTINGS)
        list(APPEND options --set ${setting})
    endforeach()
    list(JOIN ARG_ISA "," isas)
    list(APPEND options --isa ${isas})
    if(ARG_BITS STREQUAL "portable")
        list(APPEND options --bits portable)
        list(TRANSFORM ARG_ISA APPEND _portable)
    endif()
    if("train" IN_LIST ARG_PROGRAMS)
        list(APPEND options --training)
    endif()
    if("decode" IN_LIST ARG_PROGRAMS)
        list(APPEND options --decoding)
    endif()
    # The model is compiled as the project is, so that one compiler has to be there.
    set(compiler)
    if(NOT CMAKE_CROSSCOMPILING AND CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
        set(compiler ${CMAKE_COMMAND} -E env CXX=${CMAKE_CXX_COMPILER})
    endif()

    set(folder ${CMAKE_CURRENT_BINARY_DIR}/fovea/${ARG_NAME})
    set(source ${folder}/${ARG_NAME}.cpp)
    set(functions ${folder}/${ARG_NAME}_c.cpp)
    add_custom_command(OUTPUT ${source} ${folder}/${ARG_NAME}.h ${functions}
        COMMAND ${compiler} $<TARGET_FILE:fovea::fovea> generate ${model} -o ${folder} --sources-only
                --depfile ${source}.d ${options}
        WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
        DEPENDS ${ARG_SOURCES} $<TARGET_FILE:fovea::fovea>
        DEPFILE ${source}.d
        COMMENT "Generating ${ARG_NAME} from ${model}"
        VERBATIM)

    if(ARG_PYTHON)
        set(package ${CMAKE_CURRENT_BINARY_DIR}/fovea/${ARG_NAME}_python)
        add_custom_command(OUTPUT ${package}/${ARG_NAME}/__init__.py
            COMMAND ${compiler} $<TARGET_FILE:fovea::fovea> generate ${model} -o ${package} --python
                    ${options}
            WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
            DEPENDS ${source} $<TARGET_FILE:fovea::fovea>
            COMMENT "Generating ${ARG_NAME} for Python"
            VERBATIM)
        add_custom_target(${ARG_NAME}_python ALL DEPENDS ${package}/${ARG_NAME}/__init__.py)
    endif()

    # Kernels and programs once for each instruction set; the description for any machine.
    fovea_flags(flags baseline ${ARG_SMALL})
    add_library(${ARG_NAME} STATIC ${source} ${functions} ${folder}/${ARG_NAME}.h)
    set_source_files_properties(${source} PROPERTIES COMPILE_DEFINITIONS FOVEA_DESCRIPTION
        COMPILE_OPTIONS "${flags}")
    foreach(isa IN LISTS ARG_ISA)
        fovea_flags(flags ${isa} ${ARG_SMALL})
        set(kernels ${folder}/${ARG_NAME}_${isa}.cpp)
        file(CONFIGURE OUTPUT ${kernels} CONTENT "#include \"${ARG_NAME}.cpp\"\n")
        set_source_files_properties(${kernels} PROPERTIES COMPILE_DEFINITIONS FOVEA_KERNELS
            COMPILE_OPTIONS "${flags}" OBJECT_DEPENDS ${source})
        target_sources(${ARG_NAME} PRIVATE ${kernels})
    endforeach()
    target_include_directories(${ARG_NAME} SYSTEM PUBLIC ${folder})
    target_link_libraries(${ARG_NAME} PUBLIC fovea::runtime)
    target_compile_features(${ARG_NAME} PUBLIC cxx_std_20)
    # What the project asks of its own code is not asked of this.
    target_compile_options(${ARG_NAME} PRIVATE -w)
    set_target_properties(${ARG_NAME} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON
        UNITY_BUILD OFF CXX_CLANG_TIDY "" CXX_CPPCHECK "" CXX_CPPLINT "" CXX_INCLUDE_WHAT_YOU_USE "")
endfunction()
cmake_policy(POP)
