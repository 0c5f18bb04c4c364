# Makes a text file part of the library: a C file that defines `name` as its bytes and a final 0.
# Its path is left in the variable `out`. A string compiles faster than a list of bytes.
function(mayfly_embed source name out)
  get_filename_component(stem ${source} NAME_WE)
  set(result ${CMAKE_CURRENT_BINARY_DIR}/embedded/${stem}.c)
  file(READ ${source} bytes HEX)
  string(REGEX REPLACE "(................................)" "\\1\"\n\"" bytes "${bytes}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" bytes "${bytes}")
  file(CONFIGURE OUTPUT ${result} @ONLY CONTENT
    "// Made from ${source}\nextern const unsigned char ${name}[];\nconst unsigned char ${name}[] =\n\"${bytes}\";\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  set(${out} ${result} PARENT_SCOPE)
endfunction()
