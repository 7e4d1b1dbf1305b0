// Original file: proto/google/rpc/error_details.proto


export interface RequestInfo {
  'requestId'?: (string);
  'servingData'?: (string);
}

export interface RequestInfo__Output {
  'requestId': (string);
  'servingData': (string);
}
