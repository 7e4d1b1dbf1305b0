// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface RequestFacts {
  'surface'?: (string);
  'model'?: (string);
  '_surface'?: "surface";
}

export interface RequestFacts__Output {
  'surface'?: (string);
  'model': (string);
  '_surface'?: "surface";
}
