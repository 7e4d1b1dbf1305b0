// Original file: proto/google/rpc/error_details.proto


export interface DebugInfo {
  'stackEntries'?: (string)[];
  'detail'?: (string);
}

export interface DebugInfo__Output {
  'stackEntries': (string)[];
  'detail': (string);
}
