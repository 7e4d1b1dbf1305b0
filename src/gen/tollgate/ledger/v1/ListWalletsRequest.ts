// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface ListWalletsRequest {
  'pageSize'?: (number);
  'pageToken'?: (string);
  '_pageSize'?: "pageSize";
}

export interface ListWalletsRequest__Output {
  'pageSize'?: (number);
  'pageToken': (string);
  '_pageSize'?: "pageSize";
}
