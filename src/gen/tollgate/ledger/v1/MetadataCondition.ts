// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface MetadataCondition {
  'name'?: (string);
  'value'?: (string);
}

export interface MetadataCondition__Output {
  'name': (string);
  'value': (string);
}
