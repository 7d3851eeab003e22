// Compiles where bindings/python/src/xla_abi.hpp agrees with the header that comes with jaxlib.
#include "bindings/python/src/xla_abi.hpp"

#include <xla/ffi/api/c_api.h>

#include <cstddef>

namespace ours = partita::python::xla;

#define SAME_FIELD(Ours, field, Theirs, theirs)                                                 \
  static_assert(offsetof(ours::Ours, field) == offsetof(Theirs, theirs) &&                      \
                    sizeof(ours::Ours::field) == sizeof(static_cast<Theirs*>(nullptr)->theirs), \
                #Ours "." #field " is not " #Theirs "." #theirs)
#define SAME_VALUE(mine, theirs) static_assert(static_cast<int>(mine) == theirs, #mine " is not " #theirs)

using TheirExtension = decltype(XLA_FFI_Metadata_Extension::extension_base);  // renamed in version 0.4

SAME_FIELD(Extension, type, TheirExtension, type);
SAME_FIELD(Extension, next, TheirExtension, next);
SAME_FIELD(Version, major, XLA_FFI_Api_Version, major_version);
SAME_FIELD(Version, minor, XLA_FFI_Api_Version, minor_version);
SAME_FIELD(Metadata, version, XLA_FFI_Metadata, api_version);
SAME_FIELD(Metadata, traits, XLA_FFI_Metadata, traits);
SAME_FIELD(MetadataExtension, metadata, XLA_FFI_Metadata_Extension, metadata);
SAME_FIELD(ErrorText, message, XLA_FFI_Error_Create_Args, message);
SAME_FIELD(ErrorText, code, XLA_FFI_Error_Create_Args, errc);
SAME_FIELD(ErrorEnd, error, XLA_FFI_Error_Destroy_Args, error);
SAME_FIELD(StreamQuestion, execution, XLA_FFI_Stream_Get_Args, ctx);
SAME_FIELD(StreamQuestion, stream, XLA_FFI_Stream_Get_Args, stream);
SAME_FIELD(Runtime, version, XLA_FFI_Api, api_version);
SAME_FIELD(Runtime, internal, XLA_FFI_Api, internal_api);
SAME_FIELD(Runtime, make_error, XLA_FFI_Api, XLA_FFI_Error_Create);
SAME_FIELD(Runtime, destroy_error, XLA_FFI_Api, XLA_FFI_Error_Destroy);
SAME_FIELD(Runtime, register_handler, XLA_FFI_Api, XLA_FFI_Handler_Register);
SAME_FIELD(Runtime, stream, XLA_FFI_Api, XLA_FFI_Stream_Get);
SAME_FIELD(Buffer, dtype, XLA_FFI_Buffer, dtype);
SAME_FIELD(Buffer, data, XLA_FFI_Buffer, data);
SAME_FIELD(Buffer, dimensions, XLA_FFI_Buffer, rank);
SAME_FIELD(Buffer, extents, XLA_FFI_Buffer, dims);
SAME_FIELD(Buffers, count, XLA_FFI_Args, size);
SAME_FIELD(Buffers, types, XLA_FFI_Args, types);
SAME_FIELD(Buffers, buffers, XLA_FFI_Args, args);
SAME_FIELD(Buffers, count, XLA_FFI_Rets, size);
SAME_FIELD(Buffers, types, XLA_FFI_Rets, types);
SAME_FIELD(Buffers, buffers, XLA_FFI_Rets, rets);
SAME_FIELD(Text, data, XLA_FFI_ByteSpan, ptr);
SAME_FIELD(Text, length, XLA_FFI_ByteSpan, len);
SAME_FIELD(Number, dtype, XLA_FFI_Scalar, dtype);
SAME_FIELD(Number, value, XLA_FFI_Scalar, value);
SAME_FIELD(Numbers, dtype, XLA_FFI_Array, dtype);
SAME_FIELD(Numbers, count, XLA_FFI_Array, size);
SAME_FIELD(Numbers, values, XLA_FFI_Array, data);
SAME_FIELD(Attributes, count, XLA_FFI_Attrs, size);
SAME_FIELD(Attributes, types, XLA_FFI_Attrs, types);
SAME_FIELD(Attributes, names, XLA_FFI_Attrs, names);
SAME_FIELD(Attributes, values, XLA_FFI_Attrs, attrs);
SAME_FIELD(Frame, runtime, XLA_FFI_CallFrame, api);
SAME_FIELD(Frame, execution, XLA_FFI_CallFrame, ctx);
SAME_FIELD(Frame, stage, XLA_FFI_CallFrame, stage);
SAME_FIELD(Frame, arguments, XLA_FFI_CallFrame, args);
SAME_FIELD(Frame, results, XLA_FFI_CallFrame, rets);
SAME_FIELD(Frame, attributes, XLA_FFI_CallFrame, attrs);
#ifdef PARTITA_XLA_HAS_DEVICE
SAME_FIELD(Runtime, device, XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get);
SAME_FIELD(DeviceQuestion, execution, XLA_FFI_DeviceOrdinal_Get_Args, ctx);
SAME_FIELD(DeviceQuestion, device, XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal);
#endif

SAME_VALUE(ours::metadata_extension, XLA_FFI_Extension_Metadata);
SAME_VALUE(ours::execute_stage, XLA_FFI_ExecutionStage_EXECUTE);
SAME_VALUE(ours::numbers_attribute, XLA_FFI_AttrType_ARRAY);
SAME_VALUE(ours::number_attribute, XLA_FFI_AttrType_SCALAR);
SAME_VALUE(ours::text_attribute, XLA_FFI_AttrType_STRING);
SAME_VALUE(ours::dtype_s64, XLA_FFI_DataType_S64);
SAME_VALUE(ours::Code::invalid_argument, XLA_FFI_Error_Code_INVALID_ARGUMENT);
SAME_VALUE(ours::Code::deadline_exceeded, XLA_FFI_Error_Code_DEADLINE_EXCEEDED);
SAME_VALUE(ours::Code::resource_exhausted, XLA_FFI_Error_Code_RESOURCE_EXHAUSTED);
SAME_VALUE(ours::Code::failed_precondition, XLA_FFI_Error_Code_FAILED_PRECONDITION);
SAME_VALUE(ours::Code::unimplemented, XLA_FFI_Error_Code_UNIMPLEMENTED);
SAME_VALUE(ours::Code::internal, XLA_FFI_Error_Code_INTERNAL);
SAME_VALUE(ours::Code::unavailable, XLA_FFI_Error_Code_UNAVAILABLE);
SAME_VALUE(ours::version_major, XLA_FFI_API_MAJOR);
static_assert(ours::version_minor <= XLA_FFI_API_MINOR);
