// Original file: proto/tollgate/ledger/v1/ledger.proto


export interface ListCreditsRequest {
  'walletId'?: (string);
  'pageSize'?: (number);
  'pageToken'?: (string);
  'isLive'?: (boolean);
  '_pageSize'?: "pageSize";
}

export interface ListCreditsRequest__Output {
  'walletId': (string);
  'pageSize'?: (number);
  'pageToken': (string);
  'isLive': (boolean);
  '_pageSize'?: "pageSize";
}
