// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface ListRunningHoldsRequest {
  'walletId'?: (string);
  'pageSize'?: (number);
  'pageToken'?: (string);
  '_walletId'?: "walletId";
  '_pageSize'?: "pageSize";
}

export interface ListRunningHoldsRequest__Output {
  'walletId'?: (string);
  'pageSize'?: (number);
  'pageToken': (string);
  '_walletId'?: "walletId";
  '_pageSize'?: "pageSize";
}
