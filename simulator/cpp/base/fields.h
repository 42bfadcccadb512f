// The names that Python has for the members of a struct: a configuration that Python gives, or a row of a table
// that Python gets. Types and units follow from the member and from the end of the name (binding/fields.h,
// binding/table_to_numpy.h).
#pragma once

namespace simulator {

template <class Owner, class Member>
struct Field {
  const char* name;
  Member Owner::* member;
};
template <class Owner, class Member>
Field(const char*, Member Owner::*) -> Field<Owner, Member>;

// Specialised for each such struct: `kTable`, a tuple of fields.
template <class Owner>
struct FieldsOf;

template <class Owner>
concept HasFields = requires { FieldsOf<Owner>::kTable; };

}  // namespace simulator
