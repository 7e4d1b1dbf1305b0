// Original file: proto/tollgate/ledger/v1/ledger.proto

export const UnitName = {
  UNIT_NAME_UNSPECIFIED: 'UNIT_NAME_UNSPECIFIED',
  UNIT_NAME_SEARCH: 'UNIT_NAME_SEARCH',
  UNIT_NAME_IMAGE: 'UNIT_NAME_IMAGE',
  UNIT_NAME_CHARACTER: 'UNIT_NAME_CHARACTER',
  UNIT_NAME_SECOND: 'UNIT_NAME_SECOND',
} as const;

export type UnitName =
  | 'UNIT_NAME_UNSPECIFIED'
  | 0
  | 'UNIT_NAME_SEARCH'
  | 1
  | 'UNIT_NAME_IMAGE'
  | 2
  | 'UNIT_NAME_CHARACTER'
  | 3
  | 'UNIT_NAME_SECOND'
  | 4

export type UnitName__Output = typeof UnitName[keyof typeof UnitName]
